"""Protobuf schemas of all kinds, with messages in JSON and the values that are read into Spark's columns."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from airflow_kconnect.converters.protobuf.pool import message_class, message_type
from airflow_kconnect.converters.protobuf.sources import compiled
from airflow_kconnect.registry.schema import RegisteredSchema

FIRST = b"\x00"
"""Indexes of the first message type."""


def registered(
    body: str, *references: tuple[str, RegisteredSchema], syntax: str = "proto3", version: int | None = None
) -> RegisteredSchema:
    return RegisteredSchema("PROTOBUF", f'syntax = "{syntax}";\n{body}', references, version)


def message_of(schema: RegisteredSchema, name: str) -> Any:
    """The class of messages of a type."""
    return message_class(message_type(compiled(schema), name))


class Case(NamedTuple):
    """A schema whose first message type is ``M``, and messages of it.

    :param written: arguments of the message class.
    :param read: the same as Arrow has them.
    """

    body: str
    written: list[dict[str, Any]]
    read: list[dict[str, Any]]
    syntax: str = "proto3"

    @property
    def registered(self) -> RegisteredSchema:
        return registered(self.body, syntax=self.syntax)

    def messages(self) -> list[Any]:
        made = message_of(self.registered, "M")
        return [made(**values) for values in self.written]

    def payloads(self) -> list[bytes]:
        return [FIRST + message.SerializeToString(deterministic=True) for message in self.messages()]


def _integer(kind: str, *values: int) -> Case:
    return Case(f"message M {{ {kind} f = 1; }}", [{"f": v} for v in values], [{"f": v} for v in values])


_SMALL = "import 'confluent/meta.proto'; message M { int32 f = 1 [(confluent.field_meta) = {params: [%s]}]; }"
_DECIMAL = (
    "import 'confluent/meta.proto'; import 'confluent/type/decimal.proto'; message M { confluent.type.Decimal f = 1 "
    '[(confluent.field_meta) = {params: [{key: "scale", value: "2"}, {key: "precision", value: "10"}]}]; }'
)
MOMENT = datetime(2024, 5, 17, 12, 34, 56, 789_000, tzinfo=UTC)
MOMENT_SECONDS = 1_715_949_296

CASES = {
    "bool": Case("message M { bool f = 1; }", [{"f": True}, {}], [{"f": True}, {"f": False}]),
    **{kind: _integer(kind, 0, 1, -1, 2**31 - 1, -(2**31)) for kind in ("int32", "sint32", "sfixed32")},
    **{kind: _integer(kind, 0, 1, -1, 2**63 - 1, -(2**63)) for kind in ("int64", "sint64", "sfixed64")},
    **{kind: _integer(kind, 0, 1, 2**32 - 1) for kind in ("uint32", "fixed32")},
    **{
        kind: Case(f"message M {{ {kind} f = 1; }}", [{"f": 2**63}, {"f": 1}], [{"f": -(2**63)}, {"f": 1}])
        for kind in ("uint64", "fixed64")
    },
    **{
        kind: Case(f"message M {{ {kind} f = 1; }}", [{"f": 1.5}, {}], [{"f": 1.5}, {"f": 0.0}])
        for kind in ("float", "double")
    },
    "string": Case("message M { string f = 1; }", [{"f": "aé😀"}, {}], [{"f": "aé😀"}, {"f": ""}]),
    "bytes": Case("message M { bytes f = 1; }", [{"f": b"\xff\0"}, {}], [{"f": b"\xff\0"}, {"f": b""}]),
    "int8": Case(_SMALL % '{key: "connect.type", value: "int8"}', [{"f": -128}, {"f": 127}], [{"f": -128}, {"f": 127}]),
    "int16": Case(_SMALL % '{key: "connect.type", value: "int16"}', [{"f": -32768}], [{"f": -32768}]),
    "optional": Case("message M { optional int32 f = 1; }", [{"f": 0}, {}], [{"f": 0}, {"f": None}]),
    "optional of proto2": Case(
        "message M { optional string f = 1; required int64 g = 2; }",
        [{"f": "", "g": 1}, {"g": 2}],
        [{"f": "", "g": 1}, {"f": None, "g": 2}],
        syntax="proto2",
    ),
    "enum": Case(
        "enum E { A = 0; B = 5; } message M { E f = 1; }",
        [{"f": 5}, {}],
        [{"f": "B"}, {"f": "A"}],
    ),
    "nested message": Case(
        "message M { I f = 1; message I { string a = 1; I2 b = 2; } } message I2 { int32 c = 1; }",
        [{"f": {"a": "x", "b": {"c": 1}}}, {"f": {}}, {}],
        [{"f": {"a": "x", "b": {"c": 1}}}, {"f": {"a": "", "b": None}}, {"f": None}],
    ),
    "message without fields": Case(
        "message M { Empty f = 1; int32 g = 2; } message Empty {}",
        [{"f": {}}, {}],
        [{"f": {}, "g": 0}, {"f": None, "g": 0}],
    ),
    "repeated": Case("message M { repeated int32 f = 1; }", [{"f": [1, 2]}, {}], [{"f": [1, 2]}, {"f": []}]),
    "repeated strings": Case(
        "message M { repeated string f = 1; }", [{"f": ["a", ""]}, {}], [{"f": ["a", ""]}, {"f": []}]
    ),
    "repeated enums": Case(
        "enum E { A = 0; B = 1; } message M { repeated E f = 1; }", [{"f": [1, 0]}], [{"f": ["B", "A"]}]
    ),
    "repeated messages": Case(
        "message M { repeated I f = 1; } message I { repeated int64 a = 1; }",
        [{"f": [{"a": [1]}, {}]}, {}],
        [{"f": [{"a": [1]}, {"a": []}]}, {"f": []}],
    ),
    "map": Case("message M { map<string, int32> f = 1; }", [{"f": {"a": 1}}, {}], [{"f": [("a", 1)]}, {"f": []}]),
    "map of numbers": Case("message M { map<int64, string> f = 1; }", [{"f": {-5: "x"}}], [{"f": [(-5, "x")]}]),
    "map of booleans": Case("message M { map<bool, bytes> f = 1; }", [{"f": {True: b"x"}}], [{"f": [(True, b"x")]}]),
    "map of messages": Case(
        "message M { map<string, I> f = 1; } message I { string a = 1; }",
        [{"f": {"k": {"a": "x"}}}, {"f": {"k": {}}}],
        [{"f": [("k", {"a": "x"})]}, {"f": [("k", {"a": ""})]}],
    ),
    "map of enums": Case(
        "enum E { A = 0; B = 1; } message M { map<string, E> f = 1; }", [{"f": {"k": 1}}], [{"f": [("k", "B")]}]
    ),
    "oneof": Case(
        "message M { oneof choice { int32 a = 1; string b = 2; I c = 3; } int32 d = 4; } message I { int32 x = 1; }",
        [{"a": 0}, {"b": "x"}, {"c": {}}, {"d": 1}],
        [
            {"choice_0": {"a": 0, "b": None, "c": None}, "d": 0},
            {"choice_0": {"a": None, "b": "x", "c": None}, "d": 0},
            {"choice_0": {"a": None, "b": None, "c": {"x": 0}}, "d": 0},
            {"choice_0": None, "d": 1},
        ],
    ),
    "two oneofs": Case(
        "message M { oneof x { int32 a = 1; } oneof y { int32 b = 2; int32 c = 3; } }",
        [{"a": 1, "c": 2}],
        [{"x_0": {"a": 1}, "y_1": {"b": None, "c": 2}}],
    ),
    "wrapper": Case(
        "import 'google/protobuf/wrappers.proto'; message M { google.protobuf.Int32Value f = 1; }",
        [{"f": {"value": 3}}, {}],
        [{"f": {"value": 3}}, {"f": None}],
    ),
    "Timestamp": Case(
        "import 'google/protobuf/timestamp.proto'; message M { google.protobuf.Timestamp f = 1; }",
        [{"f": {"seconds": MOMENT_SECONDS, "nanos": 789_000_000}}, {"f": {"seconds": -1, "nanos": 1_000_000}}, {}],
        [{"f": MOMENT}, {"f": datetime(1969, 12, 31, 23, 59, 59, 1_000, tzinfo=UTC)}, {"f": None}],
    ),
    "Date": Case(
        "import 'google/type/date.proto'; message M { google.type.Date f = 1; }",
        [{"f": {"year": 2024, "month": 2, "day": 29}}, {"f": {"year": 1, "month": 1, "day": 1}}, {}],
        [{"f": date(2024, 2, 29)}, {"f": date(1, 1, 1)}, {"f": None}],
    ),
    "TimeOfDay": Case(
        "import 'google/type/timeofday.proto'; message M { google.type.TimeOfDay f = 1; }",
        [{"f": {"hours": 23, "minutes": 59, "seconds": 58, "nanos": 7_000_000}}, {"f": {}}, {}],
        [{"f": 86_398_007}, {"f": 0}, {"f": None}],
    ),
    "Decimal": Case(
        _DECIMAL,
        [
            {"f": {"value": b"\x7b", "scale": 2, "precision": 3}},
            {"f": {"value": b"\xff\x7f", "scale": 2, "precision": 3}},
            {},
        ],
        [{"f": Decimal("1.23")}, {"f": Decimal("-1.29")}, {"f": None}],
    ),
    "names that are Python's": Case(
        "message M { int32 class = 1; string Clear = 2; }", [{"class": 1, "Clear": "x"}], [{"class": 1, "Clear": "x"}]
    ),
}
