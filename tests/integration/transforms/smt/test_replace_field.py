"""ReplaceField: which fields stay, and under which names."""

from __future__ import annotations

from tests.support.previews import DEFAULTED, LONG, TEXT, bare, of, struct, transformed, values_of


def test_fields_are_chosen_by_their_old_names() -> None:
    optional = struct({"a": LONG, "b": DEFAULTED}, optional=True, name="N")
    answers = transformed(
        "ReplaceField$Value",
        {"include": "a,b", "exclude": "a", "renames": "b:a,z:y"},
        [
            of(optional, {"a": 1, "b": None}),
            of(optional, None),
            of(struct({"a": LONG}), {"a": 1}),
            bare({"a": 1, "b": None, "c": [2]}),
            bare({"c": 1}),
            bare([1]),
            of(LONG, 5),
            None,
        ],
    )
    assert values_of(answers) == [
        of(struct({"a": DEFAULTED}, name="N"), {"a": "preset"}),
        of(optional, None),
        of(struct({}), {}),
        bare({"a": None}),
        bare({}),
        "DataException: Only Map objects supported in absence of schema for [field replacement], "
        "found: java.util.ArrayList",
        "DataException: Only Struct objects supported for [field replacement], found: java.lang.Long",
        None,
    ]


def test_names_that_clash() -> None:
    answers = transformed(
        "ReplaceField$Value",
        {"exclude": "gone", "renames": "gone:c,x:d,a:b,q:r,s:q"},
        [
            of(struct({"a": LONG, "b": LONG}), {"a": 1, "b": 2}),
            of(struct({"gone": TEXT, "c": TEXT}), {"gone": "of gone", "c": "of c"}),
            of(struct({"gone": TEXT, "c": LONG}), {"gone": "of gone", "c": 3}),
            of(struct({"d": LONG}), {"d": 1}),
            of(struct({"s": LONG, "q": TEXT}), {"s": 1, "q": "x"}),
            bare({"a": 1, "b": 2, "gone": 3, "c": 4, "d": 5, "q": 6, "s": 7}),
        ],
    )
    assert values_of(answers) == [
        "SchemaBuilderException: Cannot create field because of field name duplication b",
        of(struct({"c": TEXT}), {"c": "of gone"}),
        'DataException: Invalid Java object for schema with type INT64: class java.lang.String for field: "c"',
        "DataException: x is not a valid field name",
        of(struct({"q": LONG, "r": TEXT}), {"q": 1, "r": "x"}),
        bare({"b": 2, "c": 4, "d": 5, "r": 6, "q": 7}),
    ]


def test_nulls_stay_if_defaults_are_not_wanted() -> None:
    value = of(struct({"a": DEFAULTED}), {"a": None})
    answers = transformed("ReplaceField$Value", {"replace.null.with.default": "false"}, [value, bare({"it's": 1})])
    assert values_of(answers) == [value, bare({"it's": 1})]
