"""ValueToKey: the keys that values give."""

from __future__ import annotations

from typing import Any

from tests.support.previews import DEFAULTED, LONG, TEXT, bare, of, struct, transformed

NO_STRUCT = "DataException: Only Struct objects supported for [copying fields from value to key], found: "
NO_MAP = (
    "DataException: Only Map objects supported in absence of schema for [copying fields from value to key], found: "
)


def _keys(answers: list[dict[str, Any] | str]) -> list[Any]:
    return [answer if isinstance(answer, str) else answer["key"] for answer in answers]


def test_keys_have_the_fields_in_the_order_of_the_configuration() -> None:
    fields = {"a": LONG, "d": DEFAULTED, "more": TEXT}
    answers = transformed(
        "ValueToKey",
        {"fields": "d,a"},
        [
            of(struct(fields, name="N", doc="text"), {"a": 1, "d": None, "more": "x"}),
            of(struct(fields, optional=True), None),
            of(struct({"a": LONG}), {"a": 1}),
            of(TEXT, None),
            of(TEXT, "x"),
            bare({"a": {"b": [1]}, "more": 2}),
            bare([1]),
            None,
        ],
    )
    assert _keys(answers) == [
        of(struct({"d": DEFAULTED, "a": LONG}), {"d": "preset", "a": 1}),
        f"{NO_STRUCT}null",
        "DataException: Field does not exist: d",
        f"{NO_STRUCT}null",
        f"{NO_STRUCT}java.lang.String",
        bare({"a": {"b": [1]}, "d": None}),
        f"{NO_MAP}java.util.ArrayList",
        f"{NO_MAP}null",
    ]


def test_other_records_keep_their_keys() -> None:
    answers = transformed(
        "ValueToKey",
        {"fields": "a", "replace.null.with.default": "false", "predicate": "none", "negate": "true"},
        [of(struct({"a": DEFAULTED}), {"a": None}), None],
        predicates="none",
        predicates_none_type="RecordIsTombstone",
    )
    assert _keys(answers) == [of(struct({"a": DEFAULTED}), {"a": None}), None]
