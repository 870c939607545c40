"""ExtractField: fields of fields, and what is not there."""

from __future__ import annotations

from tests.support.previews import DEFAULTED, LONG, TEXT, bare, of, struct, transformed, values_of

NO_MAP = "DataException: Only Map objects supported in absence of schema for "
UNKNOWN = "IllegalArgumentException: Unknown field: `the.inner`.d"
NO_STRUCT = "DataException: Cannot look up fields on non-struct type"


def test_a_path_leads_through_structs_and_objects() -> None:
    inner = struct({"d": DEFAULTED}, optional=True)
    outer = struct({"the.inner": inner}, optional=True)
    answers = transformed(
        "ExtractField$Value",
        {"field": "`the.inner`.d", "field.syntax.version": "v2"},
        [
            of(outer, {"the.inner": {"d": "x"}}),
            of(outer, {"the.inner": {"d": None}}),
            of(outer, {"the.inner": None}),
            of(outer, None),
            of(struct({"the.inner": struct({"c": TEXT})}), {"the.inner": {"c": "x"}}),
            of(struct({"other": LONG}), {"other": 1}),
            of(struct({"the.inner": LONG}), {"the.inner": 1}),
            of(TEXT, "x"),
            of(TEXT, None),
            bare({"the.inner": {"d": {"e": 1}}}),
            bare({"the.inner": {"d": None}}),
            bare({"the.inner": None}),
            bare({}),
            bare({"the.inner": [1]}),
            bare("x"),
            None,
        ],
    )
    assert values_of(answers) == [
        of(DEFAULTED, "x"),
        of(DEFAULTED, "preset"),
        of(DEFAULTED, None),
        of(DEFAULTED, None),
        UNKNOWN,
        UNKNOWN,
        NO_STRUCT,
        "DataException: Only Struct objects supported for [field extraction], found: java.lang.String",
        NO_STRUCT,
        bare({"e": 1}),
        None,
        None,
        None,
        f"{NO_MAP}[nested field access], found: java.util.ArrayList",
        f"{NO_MAP}[field extraction], found: java.lang.String",
        None,
    ]


def test_a_name_may_have_dots_and_nulls_may_stay() -> None:
    answers = transformed(
        "ExtractField$Value",
        {"field": "a.b", "replace.null.with.default": "false"},
        [of(struct({"a.b": DEFAULTED}), {"a.b": None}), bare({"a.b": [None], "a": {"b": 1}})],
    )
    assert values_of(answers) == [of(DEFAULTED, None), bare([None])]
