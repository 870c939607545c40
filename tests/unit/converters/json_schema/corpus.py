"""JSON Schemas of all kinds, with JSON values and the same values as they are in Spark's columns."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP
from airflow_kconnect.registry.schema import RegisteredSchema

MINUTE = datetime(2024, 5, 17, 12, 34, 56, 789_000, tzinfo=UTC)
MINUTE_MS = 1_715_949_296_789


class Case(NamedTuple):
    """A schema and values of it.

    :param written: values as Python has JSON.
    :param read: the same values as Arrow has them; None if they are equal to those written.
    """

    schema: Any
    written: list[Any]
    read: list[Any] | None = None

    @property
    def registered(self) -> RegisteredSchema:
        return registered(self.schema)

    @property
    def expected(self) -> list[Any]:
        return self.written if self.read is None else self.read

    @property
    def payloads(self) -> list[bytes]:
        return [json.dumps(value).encode() for value in self.written]


def registered(schema: Any, *references: tuple[str, RegisteredSchema], version: int | None = None) -> RegisteredSchema:
    return RegisteredSchema("JSON", json.dumps(schema), references, version)


def record(*members: tuple[str, Any], **attributes: Any) -> dict[str, Any]:
    """An object of (name, schema) pairs."""
    return {"type": "object", "title": "x.R", "properties": dict(members), **attributes}


def nullable(schema: Any) -> dict[str, Any]:
    return {"oneOf": [{"type": "null"}, schema]}


def number(connect_type: str) -> dict[str, Any]:
    return {"type": "number" if connect_type.startswith("float") else "integer", "connect.type": connect_type}


def decimal(scale: int = 2) -> dict[str, Any]:
    parameters = {"connect.version": 1, "connect.parameters": {"scale": str(scale)}}
    return {"type": "number", "title": DECIMAL, "connect.type": "bytes", **parameters}


def logical(name: str, connect_type: str) -> dict[str, Any]:
    return {"type": "integer", "title": name, "connect.version": 1, "connect.type": connect_type}


BYTES = {"type": "string", "connect.type": "bytes"}
INNER = record(("a", {"type": "integer"}), title="x.Inner")
OTHER = record(("b", {"type": "string"}), title="x.Other")
STRING_MAP = {"type": "object", "connect.type": "map", "additionalProperties": {"type": "integer"}}
ENTRIES = {
    "type": "array",
    "connect.type": "map",
    "items": {"type": "object", "properties": {"key": {"type": "integer"}, "value": nullable({"type": "string"})}},
}
UNION = {"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "boolean"}, INNER, OTHER]}
MEMBER = "io.confluent.connect.json.OneOf.field."


def in_union(index: int, value: Any, size: int = 5) -> dict[str, Any]:
    return {f"{MEMBER}{n}": value if n == index else None for n in range(size)}


TEXTS = ["", "a", "ä", "日本語", "😀", 'quote " and \\', "\0\n\t"]
LONGS = [0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)]
DOUBLES = [0.0, 1.0, -1.5, 1e300, 5e-324, 0.1, 123456789.0]

CASES = {
    "boolean": Case({"type": "boolean"}, [True, False]),
    "int8": Case(number("int8"), [0, 127, -128]),
    "int16": Case(number("int16"), [0, 32767, -32768]),
    "int32": Case(number("int32"), [0, 2**31 - 1, -(2**31)]),
    "int64": Case(number("int64"), LONGS),
    "integer": Case({"type": "integer"}, LONGS),
    "float32": Case(number("float32"), [0.0, 1.5, -0.25, 16777216.0]),
    "float64": Case(number("float64"), DOUBLES),
    "number": Case({"type": "number"}, DOUBLES),
    "string": Case({"type": "string"}, TEXTS),
    "string with a format": Case({"type": "string", "format": "date-time"}, ["2024-05-17T00:00:00Z"]),
    "bytes": Case(BYTES, ["", "AA==", "//79"], [b"", b"\0", b"\xff\xfe\xfd"]),
    "enum": Case({"type": "string", "enum": ["RED", "GREEN"]}, ["RED", "GREEN"]),
    "enum without a type": Case({"enum": ["RED", "GREEN"]}, ["RED"]),
    "const": Case({"type": "integer", "const": 5}, [5]),
    "optional string": Case(nullable({"type": "string"}), ["a", None]),
    "list of types": Case({"type": ["null", "string"]}, ["a", None]),
    "decimal": Case(decimal(), [1.25, -0.5, 3], [Decimal("1.25"), Decimal("-0.50"), Decimal("3.00")]),
    "date": Case(logical(DATE, "int32"), [0, -1, 19860], [date(1970, 1, 1), date(1969, 12, 31), date(2024, 5, 17)]),
    "time": Case(logical(TIME, "int32"), [0, 86_399_999]),
    "timestamp": Case(logical(TIMESTAMP, "int64"), [MINUTE_MS, -1], [MINUTE, datetime.fromtimestamp(-0.001, UTC)]),
    "array": Case({"type": "array", "items": {"type": "integer"}}, [[], [1, 2, 3]]),
    "array of nullables": Case({"type": "array", "items": nullable({"type": "string"})}, [["a", None]]),
    "array of arrays": Case(
        {"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}}, [[[True], []], []]
    ),
    "map": Case(STRING_MAP, [{}, {"a": 1, "b": 2}], [[], [("a", 1), ("b", 2)]]),
    "map of entries": Case(
        ENTRIES,
        [[], [{"key": 1, "value": "a"}, {"key": 2, "value": None}]],
        [[], [(1, "a"), (2, None)]],
    ),
    "object": Case(
        record(("id", {"type": "integer"}), ("name", nullable({"type": "string"})), ("x", {"type": "number"})),
        [{"id": 1, "name": "a", "x": 0.5}, {"id": 2, "name": None, "x": 1.0}],
    ),
    "nested object": Case(
        record(("inner", INNER), ("maybe", nullable(OTHER)), ("list", {"type": "array", "items": INNER})),
        [
            {"inner": {"a": 1}, "maybe": None, "list": [{"a": 2}, {"a": 3}]},
            {"inner": {"a": 4}, "maybe": {"b": "x"}, "list": []},
        ],
    ),
    "object of logical types": Case(
        record(("d", logical(DATE, "int32")), ("t", logical(TIMESTAMP, "int64")), ("n", nullable(decimal()))),
        [{"d": 19860, "t": MINUTE_MS, "n": 1.25}, {"d": 0, "t": 0, "n": None}],
        [
            {"d": date(2024, 5, 17), "t": MINUTE, "n": Decimal("1.25")},
            {"d": date(1970, 1, 1), "t": datetime(1970, 1, 1, tzinfo=UTC), "n": None},
        ],
    ),
    "object of collections": Case(
        record(("m", STRING_MAP), ("b", BYTES), ("f", number("float32"))),
        [{"m": {"a": 1}, "b": "AA==", "f": 1.5}],
        [{"m": [("a", 1)], "b": b"\0", "f": 1.5}],
    ),
    "union": Case(
        UNION,
        ["a", 1, True, {"a": 1}, {"b": "x"}],
        [in_union(0, "a"), in_union(1, 1), in_union(2, True), in_union(3, {"a": 1}), in_union(4, {"b": "x"})],
    ),
    "nullable union": Case(
        record(("u", {"oneOf": [{"type": "null"}, {"type": "string"}, {"type": "integer"}]})),
        [{"u": "a"}, {"u": 1}, {"u": None}],
        [{"u": in_union(0, "a", 2)}, {"u": in_union(1, 1, 2)}, {"u": None}],
    ),
    "reference": Case(record(("i", {"$ref": "#/definitions/Inner"}), definitions={"Inner": INNER}), [{"i": {"a": 1}}]),
    "allOf": Case(
        {"allOf": [INNER, record(("b", {"type": "string"}))]},
        [{"a": 1, "b": "x"}],
    ),
}
