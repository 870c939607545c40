"""Flatten: nested structs and objects."""

from __future__ import annotations

from typing import Any

from tests.support.previews import DEFAULTED, LONG, TEXT, bare, of, struct, transformed, values_of

MAP = {"type": "map", "keys": TEXT, "values": TEXT, "optional": True}


def _no_map(name: str) -> str:
    return f"DataException: Flatten transformation does not support MAP for record with schemas (for field {name})."


def test_structs() -> None:
    inner = {"x": LONG, "d": DEFAULTED}
    items = {"type": "array", "items": struct({"x": LONG}), "optional": False, "name": "Items", "doc": "text"}
    fields = {"n": struct(inner), "o": struct(inner, optional=True), "items": items}
    payload = {"n": {"x": 1, "d": None}, "o": None, "items": [{"x": 2}]}
    rest = {"name": "N", "version": 2, "doc": "text", "parameters": {"p": "q"}}
    flat = {"n_x": LONG, "n_d": DEFAULTED, "o_x": {**LONG, "optional": True}, "o_d": DEFAULTED, "items": items}
    flat_payload = {"n_x": 1, "n_d": "preset", "o_x": None, "o_d": None, "items": [{"x": 2}]}
    optional = struct(fields, **{**rest, "optional": True})
    answers = transformed(
        "Flatten$Value",
        {"delimiter": "_"},
        [
            of(struct(fields, **rest), payload),
            of(optional, payload),
            of(optional, None),
            of(struct({"a": struct({"m": MAP}, optional=True)}), {"a": None}),
            of(struct({"a": struct({"b": LONG}), "a_b": LONG}), {"a": {"b": 1}, "a_b": 2}),
            of(struct({"": struct({"b": LONG, "": LONG})}), {"": {"b": 1, "": 2}}),
            of(TEXT, "x"),
            of(TEXT, None),
        ],
    )
    all_optional = {name: {**schema, "optional": True} for name, schema in flat.items()}
    assert values_of(answers) == [
        of(struct(flat, **rest), flat_payload),
        of(struct(all_optional, **rest), flat_payload),
        of(optional, None),
        _no_map("a_m"),
        "SchemaBuilderException: Cannot create field because of field name duplication a_b",
        "DataException: Struct schema's field name not specified properly",
        "DataException: Only Struct objects supported for [flattening], found: java.lang.String",
        of(TEXT, None),
    ]


def test_objects_of_any_depth() -> None:
    names = [f"n{level}" for level in range(40)]
    deep: dict[str, Any] = {"empty": {}, "list": [{"a": {"b": 1}}]}
    for name in reversed(names):
        deep = {name: deep}
    answers = transformed(
        "Flatten$Value",
        {},
        [
            bare(deep),
            bare({"a": {"b": {}, "c": None}, "d": {}, "OBJECT<": 1}),
            bare({"a": {"b": 1}, "a.b": 2}),
            bare({"": {"b": 1, "": 2}}),
            bare({"a.b": {"c.d": 1}, "x": 1.5, "y": True, "z": "z"}),
            bare({}),
            bare([{"a": 1}]),
            None,
        ],
    )
    assert values_of(answers) == [
        bare({".".join(names) + ".list": [{"a": {"b": 1}}]}),
        bare({"a.c": None, "OBJECT<": 1}),
        bare({"a.b": 2}),
        bare({"b": 1, "": 2}),
        bare({"a.b.c.d": 1, "x": 1.5, "y": True, "z": "z"}),
        bare({}),
        "DataException: Only Map objects supported in absence of schema for [flattening], found: java.util.ArrayList",
        None,
    ]
