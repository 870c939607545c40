"""Avro schemas of all kinds, with values as fastavro writes them and as they are read into Spark's columns."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from airflow_kconnect.registry.schema import RegisteredSchema

MINUTE = datetime(2024, 5, 17, 12, 34, 56, 789_000, tzinfo=UTC)
MINUTE_MS = 1_715_949_296_789


class Case(NamedTuple):
    """A schema and values of it.

    :param written: values for fastavro.
    :param read: the same values as Arrow has them; None if they are equal to those written.
    """

    schema: Any
    written: list[Any]
    read: list[Any] | None = None

    @property
    def registered(self) -> RegisteredSchema:
        return RegisteredSchema("AVRO", json.dumps(self.schema))

    @property
    def expected(self) -> list[Any]:
        return self.written if self.read is None else self.read


def record(*fields: Any, **attributes: Any) -> dict[str, Any]:
    """A record of (name, type) pairs, or whole fields."""
    members = [field if isinstance(field, dict) else {"name": field[0], "type": field[1]} for field in fields]
    return {"type": "record", "name": "R", "namespace": "x.y", "fields": members, **attributes}


def nullable(type_: Any) -> list[Any]:
    return ["null", type_]


def decimal(scale: int = 2, precision: int = 10) -> dict[str, Any]:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


def fixed(size: int, **attributes: Any) -> dict[str, Any]:
    return {"type": "fixed", "name": "F", "namespace": "x", "size": size, **attributes}


COLOUR = {"type": "enum", "name": "Colour", "namespace": "x", "symbols": ["RED", "GREEN", "BLUE"]}
INNER = {"type": "record", "name": "Inner", "namespace": "x", "fields": [{"name": "a", "type": "long"}]}
OTHER = {"type": "record", "name": "Other", "namespace": "x", "fields": [{"name": "b", "type": "string"}]}
MAP_ENTRY = {
    "type": "record",
    "name": "MapEntry",
    "namespace": "io.confluent.connect.avro",
    "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": nullable("string")}],
}
NAMED_ENTRY = {**MAP_ENTRY, "name": "Own", "namespace": "x", "connect.internal.type": "MapEntry"}
VALUE_FIRST = {**NAMED_ENTRY, "fields": NAMED_ENTRY["fields"][::-1]}
INTS = [0, 1, -1, 63, 64, -64, -65, 8191, 8192, 2**31 - 1, -(2**31)]
LONGS = [*INTS, 2**31, 2**53, 2**63 - 1, -(2**63)]
TEXTS = ["", "a", "ä", "日本語", "😀", "x" * 300, "\0"]
BYTES = [b"", b"\0", b"\xff\xfe", bytes(range(256))]
DECIMALS = [Decimal(text) for text in ("0.00", "0.01", "-0.01", "1.27", "1.28", "-1.27", "-1.29", "12345678.90")]
WIDE = [Decimal(10**38 - 1), Decimal(1 - 10**38), Decimal(2**64), Decimal(-(2**64) - 1), Decimal(2**127 % 10**38)]


def wrapped(case: Case) -> Case:
    """The same values in a field."""
    fields = record(("f", case.schema), ("after", "string"), name="Wrapper")
    rows = [{"f": value, "after": "z"} for value in case.written]
    return Case(fields, rows, [{"f": value, "after": "z"} for value in case.expected])


def optional(case: Case) -> Case:
    """The same values and null in a nullable field."""
    return wrapped(Case(nullable(case.schema), [None, *case.written, None], [None, *case.expected, None]))


def listed(case: Case) -> Case:
    """The same values in arrays of several lengths."""
    return wrapped(
        Case(
            {"type": "array", "items": case.schema},
            [[], case.written, case.written[:1], [], case.written[::-1]],
            [[], case.expected, case.expected[:1], [], case.expected[::-1]],
        )
    )


PRIMITIVES = {
    "boolean": Case("boolean", [True, False]),
    "int": Case("int", INTS),
    "long": Case("long", LONGS),
    "float": Case("float", [0.0, 1.5, -2.25, float("inf")]),
    "double": Case("double", [0.0, 1.1, -2.2, 1e300]),
    "string": Case("string", TEXTS),
    "enum": Case(COLOUR, ["RED", "BLUE", "GREEN"]),
    "fixed": Case(fixed(3), [b"abc", b"\0\0\0"]),
    "decimal": Case(decimal(), DECIMALS),
    "wide decimal": Case(decimal(0, 38), WIDE),
    "fixed decimal": Case(fixed(6, logicalType="decimal", precision=12, scale=2), DECIMALS),
    "wide fixed decimal": Case(fixed(20, logicalType="decimal", precision=38, scale=0), WIDE),
    "date": Case({"type": "int", "logicalType": "date"}, [date(2024, 5, 17), date(1969, 12, 31)]),
    "time-millis": Case({"type": "int", "logicalType": "time-millis"}, [0, 86_399_999]),
    "time-micros": Case({"type": "long", "logicalType": "time-micros"}, [0, 86_399_999_999]),
    "timestamp-millis": Case({"type": "long", "logicalType": "timestamp-millis"}, [MINUTE, MINUTE.replace(year=1900)]),
    "timestamp-micros": Case({"type": "long", "logicalType": "timestamp-micros"}, [MINUTE_MS * 1000 + 1]),
    "local-timestamp-millis": Case({"type": "long", "logicalType": "local-timestamp-millis"}, [MINUTE_MS]),
    "local-timestamp-micros": Case({"type": "long", "logicalType": "local-timestamp-micros"}, [MINUTE_MS * 1000]),
    "uuid": Case({"type": "string", "logicalType": "uuid"}, ["0f6c7a5e-7d34-4f5c-9b0a-111111111111"]),
    "duration": Case(fixed(12, logicalType="duration"), [b"0123456789ab"]),
    "int8": Case({"type": "int", "connect.type": "int8"}, [127, -128]),
    "int16": Case({"type": "int", "connect.type": "int16"}, [32_767, -32_768]),
}
COLLECTIONS = {
    "record": Case(record(("a", "int"), ("b", nullable("string"))), [{"a": 1, "b": None}, {"a": 2, "b": "x"}]),
    "record of records": Case(
        record(("i", INNER), ("j", nullable("x.Inner"))), [{"i": {"a": 1}, "j": None}, {"i": {"a": 2}, "j": {"a": 3}}]
    ),
    "nested null records": Case(
        record(("o", nullable({**record(("i", nullable(INNER))), "name": "O"}))),
        [{"o": None}, {"o": {"i": None}}, {"o": {"i": {"a": 1}}}],
    ),
    "empty record": Case(record(), [{}, {}]),
    "record with empty record": Case(record(("e", {**record(), "name": "E"}), ("n", "int")), [{"e": {}, "n": 1}]),
    "value, then null": Case(record(("a", ["string", "null"])), [{"a": "x"}, {"a": None}]),
    "array of records": Case({"type": "array", "items": INNER}, [[], [{"a": 1}], [{"a": n} for n in range(70)]]),
    "array of nullable": Case({"type": "array", "items": nullable("int")}, [[None, 1], [None], []]),
    "array of arrays": Case(
        {"type": "array", "items": {"type": "array", "items": "string"}}, [[], [[]], [["a"], [], ["b", "c"]]]
    ),
    "map": Case(
        {"type": "map", "values": "long"}, [{}, {"a": 1}, {"a": 1, "b": -1}], [[], [("a", 1)], [("a", 1), ("b", -1)]]
    ),
    "map of maps": Case(
        {"type": "map", "values": {"type": "map", "values": "string"}}, [{"a": {"b": "c"}}], [[("a", [("b", "c")])]]
    ),
    "map of records": Case(
        {"type": "map", "values": nullable(INNER)}, [{"k": None, "l": {"a": 1}}], [[("k", None), ("l", {"a": 1})]]
    ),
    "entries": Case(
        {"type": "array", "items": MAP_ENTRY},
        [[], [{"key": 1, "value": "x"}, {"key": 2, "value": None}]],
        [[], [(1, "x"), (2, None)]],
    ),
    "named entries": Case({"type": "array", "items": NAMED_ENTRY}, [[{"key": -1, "value": "x"}]], [[(-1, "x")]]),
    "value before key": Case({"type": "array", "items": VALUE_FIRST}, [[{"key": 1, "value": "x"}]], [[(1, "x")]]),
    "a long array next to short ones": Case({"type": "array", "items": "string"}, [["x"] * 500, ["y"], []]),
}
UNIONS = {
    "union of int and string": Case(
        ["int", "string"], [1, "x"], [{"int": 1, "string": None}, {"int": None, "string": "x"}]
    ),
    "union with null": Case(
        ["null", "boolean", "double"],
        [None, True, 1.5],
        [None, {"boolean": True, "double": None}, {"boolean": None, "double": 1.5}],
    ),
    "union of records": Case(
        [INNER, OTHER],
        [("x.Inner", {"a": 1}), ("x.Other", {"b": "s"})],
        [{"Inner": {"a": 1}, "Other": None}, {"Inner": None, "Other": {"b": "s"}}],
    ),
    "union of collections": Case(
        ["null", {"type": "array", "items": "int"}, {"type": "map", "values": "int"}],
        [None, [1, 2], {"a": 1}],
        [None, {"array": [1, 2], "map": None}, {"array": None, "map": [("a", 1)]}],
    ),
    "union of enum and fixed": Case(
        [COLOUR, fixed(2), "long"],
        [("x.Colour", "RED"), ("x.F", b"ab"), 7],
        [
            {"Colour": "RED", "F": None, "long": None},
            {"Colour": None, "F": b"ab", "long": None},
            {"Colour": None, "F": None, "long": 7},
        ],
    ),
    "union of one type": Case(["string"], ["a", "b"]),
}
IN_FIELDS = PRIMITIVES | {name: case for name, case in COLLECTIONS.items() if name != "empty record"}
CASES: dict[str, Case] = {
    **{name: case for name, case in PRIMITIVES.items() if "decimal" not in name or "fixed" in name},
    **COLLECTIONS,
    **UNIONS,
    **{f"nullable {name}": optional(case) for name, case in IN_FIELDS.items()},
    **{f"array of {name}": listed(case) for name, case in {**IN_FIELDS, **UNIONS}.items()},
    "field of bytes": wrapped(Case("bytes", BYTES)),
    "nullable bytes": optional(Case("bytes", BYTES)),
    "array of bytes": listed(Case("bytes", BYTES)),
}
"""Without top-level bytes, which have no length in Confluent's messages."""
