"""Data written by another version of their schema: the one that the registry has for the subject."""

from __future__ import annotations

import io
import json
import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType, Shape, struct
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.format import AvroFormat
from airflow_kconnect.converters.types import arrow_type
from airflow_kconnect.registry.schema import RegisteredSchema
from tests.unit.converters.avro.corpus import COLOUR, INNER, decimal, fixed, nullable, record

INT32 = ConnectSchema(SchemaType.INT32)
STRING = ConnectSchema(SchemaType.STRING)
AMOUNT = ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "2"})
INSTANT = ConnectSchema(SchemaType.INT64, name=TIMESTAMP)
NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
NOON_MS = 1_704_110_400_000
DATA = struct(("a", INT32), ("b", STRING.as_optional()), name="x.y.R")


def written(schema: ConnectSchema, rows: list[Any], avro: Any, **settings: bool) -> tuple[list[Any], list[str | None]]:
    """What fastavro reads from the messages, and the errors."""
    registered = RegisteredSchema("AVRO", json.dumps(avro))
    keys = {name.replace("_", "."): value for name, value in settings.items()}
    encoder = AvroFormat(keys).encoder(registered, Shape(schema))
    payloads, errors = encoder.encode(pa.array(rows, arrow_type(schema)))
    parsed = fastavro.parse_schema(_without_logical_types(avro))
    values = [
        None if payload is None else fastavro.schemaless_reader(io.BytesIO(payload), parsed, None)
        for payload in payloads.to_pylist()
    ]
    return values, [None] * len(rows) if errors is None else errors.to_pylist()


def _without_logical_types(avro: Any) -> Any:
    return json.loads(json.dumps(avro).replace('"logicalType"', '"unused"'))


def value(schema: ConnectSchema, data: Any, avro: Any) -> Any:
    """One value, written in a field of that type."""
    values, errors = written(struct(("f", schema)), [{"f": data}], record(("f", avro)))
    assert errors == [None]
    return values[0]["f"]


@pytest.mark.parametrize(
    ("avro", "expected"),
    [
        (record(("b", nullable("string")), ("a", "int")), {"a": 1, "b": "x"}),
        (record(("a", "long"), ("b", ["string", "null"])), {"a": 1, "b": "x"}),
        (record(("a", "double"), ("b", nullable("string"))), {"a": 1.0, "b": "x"}),
        (record(("a", nullable("int")), ("b", nullable("string"))), {"a": 1, "b": "x"}),
        (record(("a", ["null", "string", "long"]), ("b", nullable("string"))), {"a": 1, "b": "x"}),
        (
            record({"name": "n", "type": "string", "default": "d"}, ("a", "int"), ("b", nullable("string"))),
            {"n": "d", "a": 1, "b": "x"},
        ),
        (record(("a", "int"), ("b", nullable("string")), ("c", nullable("long"))), {"a": 1, "b": "x", "c": None}),
        (
            record({"name": "c", "type": INNER, "default": {"a": 7}}, ("a", "int"), ("b", nullable("string"))),
            {"c": {"a": 7}, "a": 1, "b": "x"},
        ),
        (
            record({"name": "renamed", "type": "int", "aliases": ["a"]}, ("b", nullable("string"))),
            {"renamed": 1, "b": "x"},
        ),
    ],
    ids=str,
)
def test_fields_are_written_as_the_registered_schema_has_them(avro: Any, expected: dict[str, Any]) -> None:
    assert written(DATA, [{"a": 1, "b": "x"}], avro) == ([expected], [None])


@pytest.mark.parametrize(
    ("schema", "data", "avro", "expected"),
    [
        (ConnectSchema(SchemaType.INT8), -3, "long", -3),
        (ConnectSchema(SchemaType.INT64), 2**40, "double", 2.0**40),
        (ConnectSchema(SchemaType.FLOAT32), 1.5, "double", 1.5),
        (STRING, "ä", "bytes", "ä".encode()),
        (STRING, "GREEN", COLOUR, "GREEN"),
        (ConnectSchema(SchemaType.BYTES), b"ab", fixed(2), b"ab"),
        (AMOUNT, Decimal("-1.28"), decimal(2, 10), b"\x80"),
        (AMOUNT, Decimal("-1.28"), fixed(3, logicalType="decimal", precision=5, scale=2), b"\xff\xff\x80"),
        (AMOUNT, Decimal("1.28"), fixed(20, logicalType="decimal", precision=5, scale=2), b"\0" * 19 + b"\x80"),
        (INSTANT, NOON, "long", NOON_MS),
        (INSTANT, NOON, {"type": "long", "logicalType": "timestamp-micros"}, NOON_MS * 1000),
        (INSTANT, NOON, {"type": "long", "logicalType": "timestamp-nanos"}, NOON_MS * 1_000_000),
        (INSTANT, NOON, {"type": "long", "logicalType": "local-timestamp-millis"}, NOON_MS),
        (INSTANT, NOON.replace(year=1960, microsecond=1999), "long", -315_576_000_000 + 1),
        (ConnectSchema(SchemaType.INT32, name=TIME), 5, {"type": "long", "logicalType": "time-micros"}, 5000),
        (ConnectSchema(SchemaType.INT32, name=DATE), NOON.date(), {"type": "int", "logicalType": "date"}, 19_723),
    ],
    ids=str,
)
def test_types_are_promoted(schema: ConnectSchema, data: Any, avro: Any, expected: Any) -> None:
    assert value(schema, data, avro) == expected


@pytest.mark.parametrize(
    ("avro", "problem"),
    [
        (record(("a", "int"), ("b", nullable("string")), ("c", "int")), "Field c of the Avro schema has no default"),
        (
            record(("a", "string"), ("b", nullable("string"))),
            "Field a of type INT32 cannot be written as Avro type string",
        ),
        (record(("a", "int"), ("b", nullable("int"))), "Field b of type STRING cannot be written as Avro type int"),
        (record(("a", ["null", "string", "boolean"])), "Field a of type INT32 cannot be written as Avro type union"),
        ("int", "The data of type STRUCT cannot be written as Avro type int"),
        ("bytes", "The data of type STRUCT cannot be written as Avro type bytes"),
        (record({"name": "c", "type": "int", "default": "x"}), "has 'x' as a default of type int"),
    ],
    ids=str,
)
def test_schemas_without_room_for_the_data(avro: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        AvroFormat({}).encoder(RegisteredSchema("AVRO", json.dumps(avro)), Shape(DATA))


@pytest.mark.parametrize(
    ("schema", "avro", "problem"),
    [
        (ConnectSchema(SchemaType.INT64), "int", "INT64 cannot be written as Avro type int"),
        (INSTANT, "int", "Timestamp cannot be written as Avro type int"),
        (AMOUNT, decimal(3, 10), "is a Decimal of scale 2, in the Avro schema its scale is 3"),
        (AMOUNT, "string", "Decimal cannot be written as Avro type string"),
        (
            ConnectSchema(SchemaType.INT32, name=DATE),
            {"type": "int", "logicalType": "time-millis"},
            "Date cannot be written",
        ),
        (
            ConnectSchema(SchemaType.ARRAY, value_schema=INT32),
            {"type": "map", "values": "int"},
            "ARRAY cannot be written",
        ),
        (
            ConnectSchema(SchemaType.ARRAY, value_schema=struct()),
            {"type": "array", "items": {"type": "record", "name": "E", "fields": []}},
            "take no bytes",
        ),
    ],
    ids=str,
)
def test_types_without_room_for_the_data(schema: ConnectSchema, avro: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        value(schema, None, avro)


def test_a_value_that_the_registered_schema_does_not_have_is_an_error_of_its_row() -> None:
    values, errors = written(DATA, [{"a": 1, "b": None}, {"a": 2, "b": "x"}], record(("a", "int")))
    assert values == [{"a": 1}, None]
    assert errors[0] is None and "Field b: the Avro schema does not have it" in (errors[1] or "")


@pytest.mark.parametrize(
    ("schema", "data", "avro", "problem"),
    [
        (INT32, None, "int", "Field f: Found null value for non-optional schema"),
        (INT32, None, nullable("int"), "Field f: Found null value for non-optional schema"),
        (INT32.as_optional(), None, "int", "Field f: null, which the Avro schema does not allow"),
        (INT32.as_optional(), None, ["int", "string"], "Field f: Found null value for non-optional schema"),
        (STRING, "PINK", COLOUR, "Field f: 'PINK' is not a symbol of the enum"),
        (ConnectSchema(SchemaType.BYTES), b"abc", fixed(2), "Field f: the value does not have the 2 bytes"),
        (
            AMOUNT,
            Decimal("1.28"),
            fixed(1, logicalType="decimal", precision=2, scale=2),
            "Field f: the Decimal does not fit into 1 bytes",
        ),
        (ConnectSchema(SchemaType.INT32, name=TIME), -1, "int", "Field f: Time values must use number of milliseconds"),
        (
            INSTANT,
            NOON.replace(year=9000),
            {"type": "long", "logicalType": "timestamp-nanos"},
            "Timestamp is out of range",
        ),
        (
            ConnectSchema(SchemaType.ARRAY, value_schema=INT32),
            [1, None],
            {"type": "array", "items": "int"},
            r"Field f\[\]",
        ),
        (
            struct(("int", INT32.as_optional()), name="io.confluent.connect.avro.Union"),
            {"int": None},
            ["int", "string"],
            "Field f: Found null value for non-optional schema",
        ),
    ],
    ids=str,
)
def test_values_that_cannot_be_written_are_errors_of_their_rows(
    schema: ConnectSchema, data: Any, avro: Any, problem: str
) -> None:
    values, errors = written(struct(("f", schema)), [{"f": data}] * 2, record(("f", avro)))
    assert values == [None, None]
    assert all(re.search(problem, error or "") for error in errors)


def test_errors_of_one_row_leave_the_others() -> None:
    rows = [{"a": 1, "b": None}, {"a": None, "b": "x"}, None, {"a": 3, "b": "z"}]
    values, errors = written(DATA, rows, record(("a", "int"), ("b", nullable("string"))))
    assert [row and row["a"] for row in values] == [1, None, None, 3]
    assert [error is None for error in errors] == [True, False, False, True]


@pytest.mark.parametrize(("ignore", "expected"), [(False, 5), (True, None)])
def test_null_is_written_as_the_default(ignore: bool, expected: int | None) -> None:
    schema = struct(("f", ConnectSchema(SchemaType.INT32, optional=True, default=5)))
    rows = [{"f": None}, {"f": 1}, {"f": None}]
    values, _ = written(schema, rows, record(("f", nullable("int"))), ignore_default_for_nullables=ignore)
    assert [row["f"] for row in values] == [expected, 1, expected]


def test_defaults_of_all_kinds_are_written_for_null() -> None:
    defaults = {
        "list": ConnectSchema(SchemaType.ARRAY, default=(1, 2), value_schema=INT32),
        "map": ConnectSchema(SchemaType.MAP, default={"k": 1}, key_schema=STRING, value_schema=INT32),
        "struct": ConnectSchema(SchemaType.STRUCT, default={"x": 1}, fields=struct(("x", INT32)).fields, name="S"),
        "instant": ConnectSchema(SchemaType.INT64, name=TIMESTAMP, default=NOON),
        "amount": ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "2"}, default=Decimal("1.25")),
    }
    shape = Shape(struct(*defaults.items(), name="R"))
    format_ = AvroFormat({})
    registered = format_.schema_of(shape)
    values, errors = written(shape.schema or INT32, [dict.fromkeys(defaults)], json.loads(registered.text))
    assert errors == [None]
    assert values == [{"list": [1, 2], "map": {"k": 1}, "struct": {"x": 1}, "instant": NOON_MS, "amount": b"\x7d"}]


def test_a_recursive_schema_can_be_written_to_the_depth_of_the_data() -> None:
    inner = struct(("n", INT32), name="Tree")
    avro = record(("n", "int"), ("child", nullable("x.y.R")))
    rows = [{"n": 1, "child": {"n": 2}}, {"n": 3, "child": None}]
    values, errors = written(struct(("n", INT32), ("child", inner.as_optional())), rows, avro)
    assert errors == [None, None]
    assert values == [{"n": 1, "child": {"n": 2, "child": None}}, {"n": 3, "child": None}]
