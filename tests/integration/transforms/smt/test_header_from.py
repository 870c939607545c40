"""HeaderFrom: which headers records get, and what is left of them."""

from __future__ import annotations

from tests.support.previews import DEFAULTED, LONG, TEXT, bare, of, struct, transformed

CONFIG = {"fields": "d,a,d", "headers": "first,second,first"}


def test_fields_are_moved() -> None:
    fields = {"a": LONG, "d": DEFAULTED, "e": DEFAULTED}
    optional = struct(fields, optional=True, name="N")
    answers = transformed(
        "HeaderFrom$Value",
        {**CONFIG, "operation": "move"},
        [
            of(optional, {"a": 1, "d": None, "e": None}),
            of(optional, None),
            of(struct({"a": LONG}), {"a": 1}),
            of(TEXT, "x"),
            bare({"a": {"b": 1}, "it's": None}),
            bare({"d": "x"}),
            bare([1]),
            None,
        ],
    )
    preset = ("first", of(DEFAULTED, "preset"))
    no_struct = "DataException: Only Struct objects supported for [header move], found: "
    no_map = "DataException: Only Map objects supported in absence of schema for [header move], found: "
    assert answers == [
        {
            "key": None,
            "value": of(struct({"e": DEFAULTED}, name="N"), {"e": "preset"}),
            "headers": [preset, ("second", of(LONG, 1)), preset],
        },
        f"{no_struct}null",
        'NullPointerException: Cannot invoke "org.apache.kafka.connect.data.Field.schema()" because the return value '
        'of "org.apache.kafka.connect.data.Schema.field(String)" is null',
        f"{no_struct}java.lang.String",
        {
            "key": None,
            "value": bare({"it's": None}),
            "headers": [("first", None), ("second", bare({"b": 1})), ("first", None)],
        },
        {"key": None, "value": bare({}), "headers": [("first", bare("x")), ("second", None), ("first", bare("x"))]},
        f"{no_map}java.util.ArrayList",
        f"{no_map}null",
    ]


def test_only_records_that_the_predicate_names_change() -> None:
    value = of(struct({"a": LONG, "d": DEFAULTED}), {"a": 1, "d": None})
    answers = transformed(
        "HeaderFrom$Value",
        {**CONFIG, "operation": "move", "replace.null.with.default": "false", "predicate": "no", "negate": "true"},
        [value, None],
        predicates="no",
        predicates_no_type="RecordIsTombstone",
    )
    null = ("first", of(DEFAULTED, None))
    assert answers == [
        {"key": None, "value": of(struct({}), {}), "headers": [null, ("second", of(LONG, 1)), null]},
        {"key": None, "value": None, "headers": []},
    ]
