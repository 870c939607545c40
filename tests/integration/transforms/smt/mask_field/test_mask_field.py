"""MaskField: what fields of all types hold afterwards."""

from __future__ import annotations

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP
from tests.support.previews import DEFAULTED, LONG, TEXT, bare, of, struct, transformed, values_of

BOOLEAN = {"type": "boolean", "optional": True}
NUMBERS = {"type": "array", "items": LONG, "optional": True}
TEXTS = {"type": "map", "keys": TEXT, "values": TEXT, "optional": True}
TYPES = {
    "boolean": BOOLEAN,
    "text": TEXT,
    "numbers": NUMBERS,
    "texts": TEXTS,
    "float": {"type": "float", "optional": True},
    "decimal": {"type": "bytes", "optional": True, "name": DECIMAL, "version": 1, "parameters": {"scale": "0"}},
    "timestamp": {"type": "int64", "optional": True, "name": TIMESTAMP, "version": 1},
    "date": {"type": "int32", "optional": True, "name": DATE, "version": 1},
    "time": {"type": "int32", "optional": True, "name": TIME, "version": 1},
}
FILLED = {
    "boolean": True,
    "text": "x",
    "numbers": [1],
    "texts": {"a": "b"},
    "float": 1.5,
    "decimal": "BQ==",
    "timestamp": 5,
    "date": 5,
    "time": 5,
}
EMPTY = {
    "boolean": False,
    "text": "",
    "numbers": [],
    "texts": {},
    "float": 0.0,
    "decimal": "AA==",
    "timestamp": 0,
    "date": 0,
    "time": 0,
}


def test_empty_values_of_all_types() -> None:
    schema = struct(TYPES, name="N")
    members = {"numbers": [1], "texts": {"a": 1}, "boolean": True, "float": 1.5, "text": "x"}
    answers = transformed(
        "MaskField$Value",
        {"fields": ",".join(TYPES)},
        [
            of(schema, FILLED),
            of(schema, dict.fromkeys(TYPES)),
            of(struct({"text": TEXT, "other": DEFAULTED}), {"text": "x", "other": None}),
            bare({**members, "date": None, "other": "x"}),
        ],
    )
    empty = {name: EMPTY[name] for name in members}
    assert values_of(answers) == [
        of(schema, EMPTY),
        of(schema, dict.fromkeys(TYPES)),
        of(struct({"text": TEXT, "other": DEFAULTED}), {"text": "", "other": "preset"}),
        bare({**dict.fromkeys(TYPES), **empty, "other": "x"}),
    ]


def test_replacements() -> None:
    schema = struct({"a": LONG, "b": DEFAULTED, "c": {"type": "int8", "optional": False}})
    answers = transformed(
        "MaskField$Value",
        {"fields": "a,b,c,it's", "replacement": "300", "replace.null.with.default": "false"},
        [
            of(schema, {"a": 1, "b": "x", "c": 1}),
            of(schema, {"a": 1, "b": None, "c": 1}),
            of(struct({"a": BOOLEAN}), {"a": None}),
            bare({"a": 1, "b": 1.5, "c": None, "it's": "x"}),
        ],
    )
    assert values_of(answers) == [
        of(schema, {"a": 300, "b": "300", "c": 44}),
        of(schema, {"a": 300, "b": None, "c": 44}),
        of(struct({"a": BOOLEAN}), {"a": None}),
        bare({"a": 300, "b": 300.0, "c": None, "it's": "300"}),
    ]


def test_what_cannot_be_masked() -> None:
    answers = transformed(
        "MaskField$Value",
        {"fields": "a", "replacement": "x"},
        [
            of(struct({"a": LONG}), {"a": 1}),
            of(struct({"a": BOOLEAN}), {"a": True}),
            of(struct({"a": LONG}, optional=True), None),
            of(TEXT, "x"),
            bare({"a": {}}),
            bare({"a": 1}),
            bare("x"),
            None,
        ],
    )
    no_map = "DataException: Only Map objects supported in absence of schema for [mask fields], found: "
    no_struct = "DataException: Only Struct objects supported for [mask fields], found: "
    assert values_of(answers) == [
        "DataException: Unable to convert x (class java.lang.String) to a number",
        "DataException: Cannot mask value of type class java.lang.Boolean with custom replacement.",
        f"{no_struct}null",
        f"{no_struct}java.lang.String",
        "DataException: Cannot mask value of type class java.util.HashMap with custom replacement.",
        "DataException: Unable to convert x (class java.lang.String) to a number",
        f"{no_map}java.lang.String",
        f"{no_map}null",
    ]
