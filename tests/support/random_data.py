"""Random data of random schemas, as Arrow columns have them."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, Field, SchemaType
from airflow_kconnect.converters.types import arrow_type

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LEAVES = {
    "flag": ConnectSchema(SchemaType.BOOLEAN),
    "tiny": ConnectSchema(SchemaType.INT8),
    "small": ConnectSchema(SchemaType.INT16),
    "number": ConnectSchema(SchemaType.INT32),
    "big": ConnectSchema(SchemaType.INT64),
    "double": ConnectSchema(SchemaType.FLOAT64),
    "text": ConnectSchema(SchemaType.STRING),
    "data": ConnectSchema(SchemaType.BYTES),
    "amount": ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "6"}),
    "fine": ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "20"}),
    "whole": ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "0"}),
    "day": ConnectSchema(SchemaType.INT32, name=DATE),
    "time": ConnectSchema(SchemaType.INT32, name=TIME),
    "at": ConnectSchema(SchemaType.INT64, name=TIMESTAMP),
}
_DOUBLES = (0.0, -0.0, 1.0, 0.001, 0.00099, 1e7, 9999999.9, 1234567890123.4, 1.5e-12, math.inf, -math.inf, math.nan)
_TEXTS = ("", "plain", "ümläut ☃ 𝄞", "a,b}", "line\nfeed", "null", "\x00", "Struct{")


def a_schema(random: Random, depth: int) -> ConnectSchema:
    """A random type, optional or not."""
    kind = random.choice(["struct", "list", "map", *["leaf"] * 3] if depth else ["leaf"])
    optional = random.random() < 0.6
    if kind == "leaf":
        found = random.choice(list(LEAVES.values()))
    elif kind == "struct":
        members = tuple(Field(f"m{n}", a_schema(random, depth - 1)) for n in range(random.randint(1, 6)))
        found = ConnectSchema(SchemaType.STRUCT, fields=members)
    elif kind == "list":
        found = ConnectSchema(SchemaType.ARRAY, value_schema=a_schema(random, depth - 1))
    else:
        key = ConnectSchema(random.choice([SchemaType.STRING, SchemaType.INT32]))
        found = ConnectSchema(SchemaType.MAP, key_schema=key, value_schema=a_schema(random, depth - 1))
    return found.as_optional() if optional else found


def _value(random: Random, schema: ConnectSchema) -> Any:
    """A random value, as Python has it."""
    if schema.optional and random.random() < 0.3:
        return None
    match schema.type:
        case SchemaType.STRUCT:
            return {member.name: _value(random, member.schema) for member in schema.fields}
        case SchemaType.ARRAY:
            assert schema.value_schema is not None
            return [_value(random, schema.value_schema) for _ in range(random.choice([0, 1, 3]))]
        case SchemaType.MAP:
            assert schema.key_schema is not None and schema.value_schema is not None
            keys = {_value(random, schema.key_schema) for _ in range(random.choice([0, 1, 3]))}
            return [(key, _value(random, schema.value_schema)) for key in keys]
    return _a_leaf(random, schema)


def _a_leaf(random: Random, schema: ConnectSchema) -> Any:
    match schema.name or schema.type:
        case SchemaType.BOOLEAN:
            return random.random() < 0.5
        case SchemaType.FLOAT64:
            return random.choice([*_DOUBLES, random.uniform(-1e4, 1e4), 10 ** random.uniform(-300, 15)])
        case SchemaType.STRING:
            return random.choice(_TEXTS)
        case SchemaType.BYTES:
            return random.randbytes(random.choice([0, 1, 5, 200]))
        case str(name) if name == DECIMAL:
            scale = int((schema.parameters or {})["scale"])
            size = 10 ** random.randint(0, 37)
            return Decimal(random.choice([0, 1, -1, random.randint(-size, size)])).scaleb(-scale)
        case str(name) if name == DATE:
            return date(1970, 1, 1) + timedelta(days=random.randint(-719_162, 2_932_896))
        case str(name) if name == TIME:
            return random.randint(0, 86_399_999)
        case str(name) if name == TIMESTAMP:
            return _EPOCH + timedelta(milliseconds=random.randint(-62_135_596_800_000, 253_402_300_799_999))
    bits = {SchemaType.INT8: 7, SchemaType.INT16: 15, SchemaType.INT32: 31, SchemaType.INT64: 63}[schema.type]
    return random.choice([0, -(2**bits), 2**bits - 1, random.randint(-1000, 1000) % 100])


def a_struct(random: Random) -> ConnectSchema:
    """A struct with members of all types, some of them nested."""
    members = [
        Field(f"{name}{n}", LEAVES[name].as_optional() if n else LEAVES[name]) for name in LEAVES for n in (0, 1)
    ]
    members += [Field(f"nested{n}", a_schema(random, 3)) for n in range(8)]
    random.shuffle(members)
    return ConnectSchema(SchemaType.STRUCT, fields=tuple(members))


def values_of(random: Random, schema: ConnectSchema, count: int) -> pa.Array:
    """Random values of a schema."""
    return pa.array([_value(random, schema) for _ in range(count)], arrow_type(schema))
