"""JSON Schemas with messages, and the JSON lines that a directory sink writes of them."""

from __future__ import annotations

from typing import Any, NamedTuple

_DECIMAL = {"title": "org.apache.kafka.connect.data.Decimal", "type": "number", "connect.type": "bytes"}


class Case(NamedTuple):
    """Messages of one schema.

    :param read: the lines of the sink.
    :param references: name and schema of what it refers to in the registry.
    """

    schema: dict[str, Any]
    given: list[Any]
    read: list[Any]
    references: tuple[tuple[str, dict[str, Any]], ...] = ()


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _number(of: str, type_: str) -> dict[str, Any]:
    return {"type": of, "connect.type": type_}


def _logical(name: str, of: str, type_: str) -> dict[str, Any]:
    return {"title": f"org.apache.kafka.connect.data.{name}", "type": of, "connect.type": type_, "connect.version": 1}


CASES = {
    "nested": Case(
        _object(a=_object(b=_object(c={"type": "string"}), n={"type": "integer"})),
        [{"a": {"b": {"c": "é😀"}, "n": 1}}, {"a": {"n": 2}}, {}],
        [{"a": {"b": {"c": "é😀"}, "n": 1}}, {"a": {"b": None, "n": 2}}, {"a": None}],
    ),
    "arrays": Case(
        _object(
            n={"type": "array", "items": {"type": "integer"}},
            o={"type": "array", "items": _object(s={"type": "string"})},
        ),
        [{"n": [1, 2], "o": [{"s": "x"}, {}]}, {"n": [], "o": []}],
        [{"n": [1, 2], "o": [{"s": "x"}, {"s": None}]}, {"n": [], "o": []}],
    ),
    "null or something": Case(
        _object(
            a={"oneOf": [{"type": "null"}, {"type": "string"}]},
            b={"anyOf": [{"type": "integer"}, {"type": "null"}]},
        ),
        [{"a": None, "b": None}, {"a": "x", "b": 1}],
        [{"a": None, "b": None}, {"a": "x", "b": 1}],
    ),
    "one of several": Case(
        _object(a={"oneOf": [{"type": "string"}, {"type": "integer"}]}),
        [{"a": "x"}, {"a": 1}],
        [
            {"a": {"io.confluent.connect.json.OneOf.field.0": "x", "io.confluent.connect.json.OneOf.field.1": None}},
            {"a": {"io.confluent.connect.json.OneOf.field.0": None, "io.confluent.connect.json.OneOf.field.1": 1}},
        ],
    ),
    "enums": Case(
        _object(color={"enum": ["red", "blue"]}),
        [{"color": "red"}, {"color": "blue"}],
        [{"color": "red"}, {"color": "blue"}],
    ),
    "definitions": Case(
        {
            **_object(home={"$ref": "#/definitions/address"}),
            "definitions": {"address": _object(city={"type": "string"})},
        },
        [{"home": {"city": "Bern"}}],
        [{"home": {"city": "Bern"}}],
    ),
    "references in the registry": Case(
        _object(item={"$ref": "item.json"}),
        [{"item": {"name": "tea"}}],
        [{"item": {"name": "tea"}}],
        references=(("item.json", _object(name={"type": "string"})),),
    ),
    "numbers": Case(
        _object(
            a=_number("integer", "int8"),
            b=_number("integer", "int32"),
            c={"type": "integer"},
            d=_number("number", "float32"),
            e={"type": "number"},
        ),
        [
            {"a": -128, "b": 2**31 - 1, "c": 2**63 - 1, "d": 0.5, "e": 1e300},
            {"a": 0, "b": 0, "c": -(2**63), "d": 3, "e": 7},
        ],
        [
            {"a": -128, "b": 2**31 - 1, "c": 2**63 - 1, "d": 0.5, "e": 1e300},
            {"a": 0, "b": 0, "c": -(2**63), "d": 3.0, "e": 7.0},
        ],
    ),
    "decimals": Case(
        _object(price={**_DECIMAL, "connect.version": 1, "connect.parameters": {"scale": "2"}}),
        [{"price": 12.5}, {"price": 3}],
        [{"price": 12.5}, {"price": 3.0}],
    ),
    "dates": Case(
        _object(
            day=_logical("Date", "integer", "int32"),
            time=_logical("Time", "integer", "int32"),
            at=_logical("Timestamp", "integer", "int64"),
        ),
        [{"day": 19860, "time": 3_600_005, "at": 1_715_949_296_789}],
        [{"day": "2024-05-17", "time": 3_600_005, "at": "2024-05-17T12:34:56.789Z"}],
    ),
    "maps": Case(
        _object(
            tags={"type": "object", "connect.type": "map", "additionalProperties": {"type": "integer"}},
            pairs={
                "type": "array",
                "connect.type": "map",
                "items": _object(key={"type": "integer"}, value={"type": "string"}),
            },
        ),
        [{"tags": {"a": 1, "b": 2}, "pairs": [{"key": 7, "value": "x"}]}],
        [{"tags": {"a": 1, "b": 2}, "pairs": {"7": "x"}}],
    ),
    "properties without a schema": Case(
        {**_object(n={"type": "integer"}), "additionalProperties": True}, [{"n": 1, "more": [1, {"a": 2}]}], [{"n": 1}]
    ),
    "all of": Case(
        {"allOf": [_object(a={"type": "integer"}), _object(b={"type": "string"})]},
        [{"a": 1, "b": "x"}],
        [{"a": 1, "b": "x"}],
    ),
    "defaults": Case(_object(n={"type": "integer", "default": 5}), [{"n": 1}, {}], [{"n": 1}, {"n": 5}]),
    "a bare value": Case({"type": "string"}, ["x"], ["x"]),
}
