"""ValueToKey: the keys that values give."""

from __future__ import annotations

from typing import Any

from tests.support.previews import DEFAULTED, LONG, TEXT, bare, of, struct, transformed

REQUIRED = {"type": "string", "optional": False, "default": "preset"}
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


def test_paths_lead_through_structs_and_objects() -> None:
    def value(inner: Any) -> dict[str, Any]:
        schema = struct({"s": TEXT, "d": REQUIRED, "x.y": DEFAULTED}, optional=True)
        return of(struct({"a": LONG, "n": schema}), {"a": 1, "n": inner})

    answers = transformed(
        "ValueToKey",
        {"fields": "n.`x.y`,n.s,a", "field.syntax.version": "v2"},
        [
            value({"s": "t", "d": "u", "x.y": "v"}),
            value({"s": None, "d": "u", "x.y": None}),
            value(None),
            of(struct({"a": LONG, "n": struct({"s": TEXT})}), {"a": 1, "n": {"s": "t"}}),
            of(struct({"a": LONG, "n": LONG}), {"a": 1, "n": 2}),
            of(struct({"a": LONG}), {"a": 1}),
            bare({"a": 1, "n": {"x.y": [2], "s": None}}),
            bare({"a": 1, "n": None}),
            bare({"a": 1}),
            bare({"a": 1, "n": 2}),
            bare("x"),
        ],
    )
    key = struct({"n.`x.y`": DEFAULTED, "n.s": TEXT, "a": LONG})
    assert _keys(answers) == [
        of(key, {"n.`x.y`": "v", "n.s": "t", "a": 1}),
        of(key, {"n.`x.y`": "preset", "n.s": None, "a": 1}),
        of(key, {"n.`x.y`": None, "n.s": None, "a": 1}),
        "DataException: Field does not exist: n.`x.y`",
        "DataException: Cannot look up fields on non-struct type",
        "DataException: Field does not exist: n.`x.y`",
        bare({"n.`x.y`": [2], "n.s": None, "a": 1}),
        bare({"n.`x.y`": None, "n.s": None, "a": 1}),
        bare({"n.`x.y`": None, "n.s": None, "a": 1}),
        "DataException: Only Map objects supported in absence of schema for [nested field access], "
        "found: java.lang.Long",
        f"{NO_MAP}java.lang.String",
    ]


def test_a_required_field_of_a_struct_that_is_null_is_no_part_of_a_key() -> None:
    schema = struct({"n": struct({"d": REQUIRED}, optional=True)})
    answers = transformed(
        "ValueToKey",
        {"fields": "n.d", "field.syntax.version": "V2"},
        [of(schema, {"n": {"d": "u"}}), of(schema, {"n": None})],
    )
    assert _keys(answers) == [
        of(struct({"n.d": REQUIRED}), {"n.d": "u"}),
        'DataException: Invalid value: null used for required field: "n.d", schema type: STRING',
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
