"""Connect data of all kinds, and what others read in the messages that we write of them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from airflow_kconnect.connect.data import (
    BOOLEAN_SCHEMA,
    DATE,
    DECIMAL,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    TIME,
    TIMESTAMP,
    ConnectSchema,
    SchemaType,
    struct,
)

BYTES = ConnectSchema(SchemaType.BYTES)
INNER = struct(("n", INT32_SCHEMA), ("s", STRING_SCHEMA.as_optional()), name="shop.Inner")
MOMENT = datetime(2024, 5, 17, 12, 34, 56, 789_000, tzinfo=UTC)


class Written(NamedTuple):
    """Values of a schema.

    :param as_json: what a JSON Schema's messages are. :param as_protobuf: those of Protobuf, in its JSON.
    """

    schema: ConnectSchema
    values: list[Any]
    as_json: list[Any]
    as_protobuf: list[Any]


def _logical(name: str, type_: SchemaType, **parameters: str) -> ConnectSchema:
    return ConnectSchema(type_, name=name, version=1, parameters=parameters or None)


def _array(of: ConnectSchema) -> ConnectSchema:
    return ConnectSchema(SchemaType.ARRAY, value_schema=of)


def _map(keys: ConnectSchema, values: ConnectSchema) -> ConnectSchema:
    return ConnectSchema(SchemaType.MAP, key_schema=keys, value_schema=values)


CASES = {
    "scalars": Written(
        struct(
            ("a", ConnectSchema(SchemaType.INT8)),
            ("b", ConnectSchema(SchemaType.INT16)),
            ("c", INT32_SCHEMA),
            ("d", INT64_SCHEMA),
            ("e", ConnectSchema(SchemaType.FLOAT32)),
            ("f", FLOAT64_SCHEMA),
            ("g", BOOLEAN_SCHEMA),
            ("h", STRING_SCHEMA),
            ("i", BYTES),
            name="shop.Scalars",
        ),
        [
            {"a": -128, "b": 32767, "c": -1, "d": 2**53, "e": 0.5, "f": 1e300, "g": True, "h": 'q"\n😀', "i": b"\xff"},
            {"a": 0, "b": 0, "c": 0, "d": 0, "e": 0.0, "f": 0.0, "g": False, "h": "", "i": b""},
        ],
        [
            {"a": -128, "b": 32767, "c": -1, "d": 2**53, "e": 0.5, "f": 1e300, "g": True, "h": 'q"\n😀', "i": "/w=="},
            {"a": 0, "b": 0, "c": 0, "d": 0, "e": 0.0, "f": 0.0, "g": False, "h": "", "i": ""},
        ],
        [
            {
                "a": -128,
                "b": 32767,
                "c": -1,
                "d": str(2**53),
                "e": 0.5,
                "f": 1e300,
                "g": True,
                "h": 'q"\n😀',
                "i": "/w==",
            },
            {},
        ],
    ),
    "optional": Written(
        struct(("n", INT64_SCHEMA.as_optional()), ("s", STRING_SCHEMA.as_optional()), name="shop.Optional"),
        [{"n": None, "s": None}, {"n": 1, "s": "x"}],
        [{"n": None, "s": None}, {"n": 1, "s": "x"}],
        [{}, {"n": "1", "s": "x"}],
    ),
    "nested": Written(
        struct(("inner", INNER), ("other", INNER.as_optional()), name="shop.Nested"),
        [{"inner": {"n": 1, "s": "x"}, "other": None}, {"inner": {"n": 2, "s": None}, "other": {"n": 3, "s": None}}],
        [{"inner": {"n": 1, "s": "x"}, "other": None}, {"inner": {"n": 2, "s": None}, "other": {"n": 3, "s": None}}],
        [{"inner": {"n": 1, "s": "x"}}, {"inner": {"n": 2}, "other": {"n": 3}}],
    ),
    "arrays": Written(
        struct(("n", _array(INT32_SCHEMA)), ("i", _array(INNER)), name="shop.Arrays"),
        [{"n": [1, 2], "i": [{"n": 1, "s": "x"}]}, {"n": [], "i": []}],
        [{"n": [1, 2], "i": [{"n": 1, "s": "x"}]}, {"n": [], "i": []}],
        [{"n": [1, 2], "i": [{"n": 1, "s": "x"}]}, {}],
    ),
    "maps": Written(
        struct(("a", _map(STRING_SCHEMA, INT32_SCHEMA)), ("b", _map(INT64_SCHEMA, STRING_SCHEMA)), name="shop.Maps"),
        [{"a": {"x": 1}, "b": {7: "seven"}}, {"a": {}, "b": {}}],
        [{"a": {"x": 1}, "b": [{"key": 7, "value": "seven"}]}, {"a": {}, "b": []}],
        [{"a": [{"key": "x", "value": 1}], "b": [{"key": "7", "value": "seven"}]}, {}],
    ),
    "dates": Written(
        struct(
            ("day", _logical(DATE, SchemaType.INT32)),
            ("time", _logical(TIME, SchemaType.INT32)),
            ("at", _logical(TIMESTAMP, SchemaType.INT64)),
            name="shop.Dates",
        ),
        [{"day": date(2024, 5, 17), "time": 3_600_005, "at": MOMENT}],
        [{"day": 19860, "time": 3_600_005, "at": 1_715_949_296_789}],
        [
            {
                "day": {"year": 2024, "month": 5, "day": 17},
                "time": {"hours": 1, "nanos": 5_000_000},
                "at": "2024-05-17T12:34:56.789Z",
            }
        ],
    ),
    "decimals": Written(
        struct(("price", _logical(DECIMAL, SchemaType.BYTES, scale="2")), name="shop.Decimals"),
        [{"price": Decimal("-1.28")}, {"price": Decimal("0.00")}],
        [{"price": "gA=="}, {"price": "AA=="}],
        [
            {"price": {"value": "gA==", "precision": 3, "scale": 2}},
            {"price": {"value": "AA==", "precision": 1, "scale": 2}},
        ],
    ),
}
