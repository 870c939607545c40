"""Protobuf schemas with messages, and the JSON lines that a directory sink writes of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from airflow_kconnect.registry.schema import RegisteredSchema


class Case(NamedTuple):
    """Messages of one type.

    :param text: the .proto file. :param message: full name of the type.
    :param given: the messages, in Protobuf's JSON.
    :param read: the lines of the sink.
    """

    text: str
    given: list[dict[str, Any]]
    read: list[Any]
    message: str = "M"
    references: tuple[tuple[str, str], ...] = ()

    @property
    def registered(self) -> RegisteredSchema:
        files = tuple((name, RegisteredSchema("PROTOBUF", text)) for name, text in self.references)
        return RegisteredSchema("PROTOBUF", self.text, files)


def _proto3(body: str) -> str:
    return f'syntax = "proto3";\n{body}'


def _imported(*names: str) -> str:
    return "".join(f'import "{name}";\n' for name in names)


_SCALARS = """message M {
  int32 a = 1; sint32 b = 2; sfixed32 c = 3; uint32 d = 4; fixed32 e = 5;
  int64 f = 6; sint64 g = 7; sfixed64 h = 8; uint64 i = 9; fixed64 j = 10;
  float k = 11; double l = 12; bool m = 13; string n = 14; bytes o = 15;
}"""
_MONEY = (
    _imported("confluent/meta.proto", "confluent/type/decimal.proto")
    + "message M { confluent.type.Decimal price = 1 [(confluent.field_meta) = {params: ["
    + '{key: "scale", value: "2"}, {key: "precision", value: "10"}]}]; }'
)
_SEVERAL = "message A { string s = 1; message B { int32 n = 1; } message C { int32 n = 1; } } message D { bool d = 1; }"
_WRAPPED = "message M { google.protobuf.Int32Value n = 1; google.protobuf.StringValue s = 2; }"
_DAYS = "message M { google.type.Date day = 1; google.type.TimeOfDay time = 2; }"
_PROTO2 = """syntax = "proto2";
message M { required int32 n = 1; optional string s = 2; optional int32 d = 3 [default = 7]; }"""
_ITEM = "package shop; message Item { string name = 1; Size size = 2; } enum Size { SMALL = 0; LARGE = 1; }"

CASES = {
    "scalars": Case(
        _proto3(_SCALARS),
        [
            {"a": -1, "b": -2, "c": -3, "d": 4_000_000_000, "e": 5, "f": -6, "g": -(2**62), "h": 8, "i": 9, "j": 10}
            | {"k": 1.5, "l": 0.1, "m": True, "n": "é😀", "o": "AP8="},
            {},
        ],
        [
            {"a": -1, "b": -2, "c": -3, "d": 4_000_000_000, "e": 5, "f": -6, "g": -(2**62), "h": 8, "i": 9, "j": 10}
            | {"k": 1.5, "l": 0.1, "m": True, "n": "é😀", "o": "AP8="},
            {**dict.fromkeys("abcdefghij", 0), "k": 0.0, "l": 0.0, "m": False, "n": "", "o": ""},
        ],
    ),
    "nested": Case(
        _proto3("message M { Inner inner = 1; message Inner { int32 n = 1; D d = 2; } } message D { string s = 1; }"),
        [{"inner": {"n": 1, "d": {"s": "x"}}}, {"inner": {"n": 2}}, {}],
        [{"inner": {"n": 1, "d": {"s": "x"}}}, {"inner": {"n": 2, "d": None}}, {"inner": None}],
    ),
    "repeated": Case(
        _proto3(
            "message M { repeated int32 n = 1; repeated string s = 2; repeated I i = 3; } message I { bool b = 1; }"
        ),
        [{"n": [1, 2, 300], "s": ["", "b"], "i": [{"b": True}, {}]}, {}],
        [{"n": [1, 2, 300], "s": ["", "b"], "i": [{"b": True}, {"b": False}]}, {"n": [], "s": [], "i": []}],
    ),
    "maps": Case(
        _proto3("message M { map<string, int32> n = 1; map<int32, I> i = 2; } message I { bool b = 1; }"),
        [{"n": {"a": 1}, "i": {"7": {"b": True}}}, {}],
        [{"n": {"a": 1}, "i": {"7": {"b": True}}}, {"n": {}, "i": {}}],
    ),
    "oneofs": Case(
        _proto3("message M { oneof choice { int32 n = 1; I i = 2; } string s = 3; } message I { bool b = 1; }"),
        [{"n": 0, "s": "x"}, {"i": {"b": True}}, {}],
        [
            {"choice_0": {"n": 0, "i": None}, "s": "x"},
            {"choice_0": {"n": None, "i": {"b": True}}, "s": ""},
            {"choice_0": None, "s": ""},
        ],
    ),
    "enums": Case(
        _proto3("message M { Color c = 1; repeated Color more = 2; } enum Color { RED = 0; BLUE = 5; }"),
        [{"c": "BLUE", "more": ["RED", "BLUE"]}, {}],
        [{"c": "BLUE", "more": ["RED", "BLUE"]}, {"c": "RED", "more": []}],
    ),
    "wrappers": Case(
        _proto3(_imported("google/protobuf/wrappers.proto") + _WRAPPED),
        [{"n": 0, "s": "x"}, {}],
        [{"n": {"value": 0}, "s": {"value": "x"}}, {"n": None, "s": None}],
    ),
    "timestamps": Case(
        _proto3(_imported("google/protobuf/timestamp.proto") + "message M { google.protobuf.Timestamp at = 1; }"),
        [{"at": "2024-05-17T12:34:56.789Z"}, {"at": "1969-12-31T23:59:59.999Z"}, {}],
        [{"at": "2024-05-17T12:34:56.789Z"}, {"at": "1969-12-31T23:59:59.999Z"}, {"at": None}],
    ),
    "dates": Case(
        _proto3(_imported("google/type/date.proto", "google/type/timeofday.proto") + _DAYS),
        [{"day": {"year": 2024, "month": 5, "day": 17}, "time": {"hours": 1, "nanos": 5_000_000}}, {}],
        [{"day": "2024-05-17", "time": 3_600_005}, {"day": None, "time": None}],
    ),
    "decimals": Case(
        _proto3(_MONEY),
        [{"price": {"value": "/zg=", "precision": 3, "scale": 2}}, {"price": {"value": "BQ==", "scale": 0}}, {}],
        [{"price": -2.00}, {"price": 5.00}, {"price": None}],
    ),
    "optional fields": Case(
        _proto3("message M { optional int32 n = 1; int32 m = 2; optional string s = 3; }"),
        [{"n": 0, "m": 0, "s": ""}, {}],
        [{"n": 0, "m": 0, "s": ""}, {"n": None, "m": 0, "s": None}],
    ),
    "proto2": Case(
        _PROTO2,
        [{"n": 0, "s": "x", "d": 1}, {"n": 1}],
        [{"n": 0, "s": "x", "d": 1}, {"n": 1, "s": None, "d": None}],
    ),
    "references": Case(
        _proto3(_imported("shop/item.proto") + "message M { shop.Item item = 1; }"),
        [{"item": {"name": "tea", "size": "LARGE"}}, {}],
        [{"item": {"name": "tea", "size": "LARGE"}}, {"item": None}],
        references=(
            (
                "shop/item.proto",
                _proto3(
                    "package shop; message Item { string name = 1; Size size = 2; } enum Size { SMALL = 0; LARGE = 1; }"
                ),
            ),
        ),
    ),
    "the first of several": Case(_proto3(_SEVERAL), [{"s": "x"}], [{"s": "x"}], message="A"),
    "a nested one of several": Case(_proto3(_SEVERAL), [{"n": 3}], [{"n": 3}], message="A.C"),
    "the last of several": Case(_proto3(_SEVERAL), [{"d": True}], [{"d": True}], message="D"),
}
