"""SetSchemaMetadata: which schemas change, and what else does."""

from __future__ import annotations

from tests.support.previews import DEFAULTED, LONG, TEXT, bare, of, struct, transformed, values_of

NO_STRUCT = "DataException: Cannot list fields on non-struct type"


def test_only_name_or_version_of_structs_change() -> None:
    fields = {"a": LONG, "d": DEFAULTED}
    rest = {"optional": True, "doc": "text", "parameters": {"x": "y"}, "version": 3}
    answers = transformed(
        "SetSchemaMetadata$Value",
        {"schema.name": "New"},
        [
            of(struct(fields, name="Old", **rest), {"a": 1, "d": None}),
            of(struct(fields, **rest), None),
            of(TEXT, "x"),
            of(TEXT, None),
            bare({"a": 1}),
            bare(None),
            None,
        ],
    )
    assert values_of(answers) == [
        of(struct(fields, name="New", **rest), {"a": 1, "d": "preset"}),
        of(struct(fields, name="New", **rest), None),
        NO_STRUCT,
        NO_STRUCT,
        "DataException: Schema required for [updating schema metadata]",
        None,
        None,
    ]


def test_nulls_stay_if_defaults_are_not_wanted() -> None:
    config = {"schema.version": "2", "replace.null.with.default": "false"}
    answers = transformed("SetSchemaMetadata$Value", config, [of(struct({"d": DEFAULTED}, name="N"), {"d": None})])
    assert values_of(answers) == [of(struct({"d": DEFAULTED}, name="N", version=2), {"d": None})]
