"""Connect schemas as JSON, and back."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from airflow_kconnect.connect.data import (
    DATE,
    DECIMAL,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIME,
    TIMESTAMP,
    ConnectSchema,
    SchemaType,
    struct,
)
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.json.schemas import from_json_schema, schema_text, to_json_schema


def decimal(default: Decimal | None = None) -> ConnectSchema:
    return ConnectSchema(SchemaType.BYTES, name=DECIMAL, version=1, parameters={"scale": "2"}, default=default)


RECORD = struct(
    ("id", INT64_SCHEMA),
    ("s", ConnectSchema(SchemaType.STRING, optional=True, default="x")),
    ("amt", decimal()),
    ("a", ConnectSchema(SchemaType.ARRAY, value_schema=INT32_SCHEMA)),
    ("m", ConnectSchema(SchemaType.MAP, key_schema=STRING_SCHEMA, value_schema=INT32_SCHEMA.as_optional())),
    name="my.Rec",
)
RECORD_TEXT = (
    '{"type":"struct","fields":['
    '{"type":"int64","optional":false,"field":"id"},'
    '{"type":"string","optional":true,"default":"x","field":"s"},'
    '{"type":"bytes","optional":false,"name":"org.apache.kafka.connect.data.Decimal","version":1,'
    '"parameters":{"scale":"2"},"field":"amt"},'
    '{"type":"array","items":{"type":"int32","optional":false},"optional":false,"field":"a"},'
    '{"type":"map","keys":{"type":"string","optional":false},"values":{"type":"int32","optional":true},'
    '"optional":false,"field":"m"}],"optional":false,"name":"my.Rec"}'
)


class TestText:
    def test_members_come_in_the_order_of_connect(self) -> None:
        assert schema_text(RECORD) == RECORD_TEXT

    @pytest.mark.parametrize(
        ("type_", "default", "text"),
        [("float", 0.1, "0.1"), ("float", 16777217, "1.6777216E7"), ("float", 5e-324, "0.0"), ("double", -0.0, "0.0")],
    )
    def test_defaults_are_rounded_to_their_type(self, type_: str, default: float, text: str) -> None:
        schema = from_json_schema({"type": type_, "default": default})
        assert schema_text(schema) == f'{{"type":"{type_}","optional":false,"default":{text}}}'

    def test_a_list_without_a_common_type_has_none(self) -> None:
        schema = ConnectSchema(SchemaType.ARRAY, value_schema=None)
        assert schema_text(schema) == '{"type":"array","items":null,"optional":false}'

    def test_no_schema_is_null(self) -> None:
        assert schema_text(None) == "null"

    def test_doc_comes_after_version_and_before_parameters(self) -> None:
        schema = ConnectSchema(SchemaType.STRING, name="n", version=3, doc="ü", parameters={"p": "q"})
        assert list(to_json_schema(schema)) == ["type", "optional", "name", "version", "doc", "parameters"]

    @pytest.mark.parametrize(
        ("schema", "default"),
        [
            pytest.param(ConnectSchema(SchemaType.BYTES, default=b"\x01\x02"), "AQI=", id="bytes are base64"),
            pytest.param(decimal(Decimal("2.06")), "AM4=", id="decimal: unscaled bytes"),
            pytest.param(decimal(Decimal("-1.28")), "gA==", id="negative decimal: as few bytes as possible"),
            pytest.param(ConnectSchema(SchemaType.INT32, name=DATE, default=date(1970, 1, 3)), 2, id="days"),
            pytest.param(ConnectSchema(SchemaType.INT32, name=TIME, default=7), 7, id="milliseconds of the day"),
            pytest.param(
                ConnectSchema(SchemaType.INT64, name=TIMESTAMP, default=datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
                1000,
                id="milliseconds since the epoch",
            ),
            pytest.param(
                ConnectSchema(SchemaType.ARRAY, value_schema=INT32_SCHEMA, default=(1, 2)), [1, 2], id="a list"
            ),
            pytest.param(
                ConnectSchema(SchemaType.MAP, key_schema=INT32_SCHEMA, value_schema=STRING_SCHEMA, default={1: "a"}),
                [[1, "a"]],
                id="a map with other keys is a list of pairs",
            ),
        ],
    )
    def test_default_is_written_like_a_payload_and_read_back(self, schema: ConnectSchema, default: Any) -> None:
        written = to_json_schema(schema)
        assert written["default"] == default
        assert from_json_schema(written) == schema

    def test_decimal_default_as_number(self) -> None:
        assert to_json_schema(decimal(Decimal("2.06")), "NUMERIC")["default"] == Decimal("2.06")


class TestReading:
    def test_reads_what_it_writes(self) -> None:
        assert from_json_schema(to_json_schema(RECORD)) == RECORD

    def test_null_is_not_a_schema(self) -> None:
        assert from_json_schema(None) is None

    def test_missing_optional_is_false(self) -> None:
        assert from_json_schema({"type": "string"}) == STRING_SCHEMA

    def test_values_of_wrong_types_are_skipped(self) -> None:
        node = {"type": "string", "optional": True, "name": 1, "version": "1", "doc": [], "parameters": 5, "x": 1}
        assert from_json_schema(node) == OPTIONAL_STRING_SCHEMA

    @pytest.mark.parametrize(
        ("node", "text"),
        [
            pytest.param({}, "Schema must contain 'type' field", id="no type"),
            pytest.param(5, "Schema must contain 'type' field", id="no object"),
            pytest.param({"type": "int3"}, "Unknown schema type: int3", id="unknown type"),
            pytest.param({"type": "array"}, "Array schema did not specify the element type", id="no items"),
            pytest.param({"type": "map"}, "Map schema did not specify the key type", id="no keys"),
            pytest.param(
                {"type": "map", "keys": {"type": "string"}},
                "Map schema did not specify the value type",
                id="no values",
            ),
            pytest.param({"type": "struct"}, 'Struct schema\'s "fields" argument is not an array.', id="no fields"),
            pytest.param(
                {"type": "struct", "fields": [{"type": "string"}]},
                "Struct schema's field name not specified properly",
                id="field without name",
            ),
            pytest.param(
                {"type": "string", "parameters": {"a": 1}},
                "Schema parameters must have string values.",
                id="parameter that is not a text",
            ),
            pytest.param(
                {"type": "int32", "default": None}, "Invalid null value for required INT32 field", id="null default"
            ),
            pytest.param({"type": "bytes", "default": "***"}, "Invalid value for a BYTES field", id="no base64"),
            pytest.param(
                {"type": "bytes", "name": DECIMAL}, "Invalid Decimal schema: scale parameter not found.", id="no scale"
            ),
            pytest.param(
                {"type": "bytes", "name": DECIMAL, "parameters": {"scale": "39"}},
                "Invalid scale of a Decimal schema: 39, expected 0 to 38",
                id="scale that no column can have",
            ),
        ],
    )
    def test_wrong_schemas_have_the_texts_of_connect(self, node: Any, text: str) -> None:
        with pytest.raises(DataError) as raised:
            from_json_schema(node)
        assert str(raised.value) == text


class TestDefaults:
    @pytest.mark.parametrize(
        ("type_", "node", "expected"),
        [
            ("int8", 300, 44),
            ("int32", 3_000_000_000, -1_294_967_296),
            ("int64", 9_223_372_036_854_775_808, -9_223_372_036_854_775_808),
            ("int32", -1.7, -1),
            ("int32", "7", 0),
            ("int32", True, 0),
            ("boolean", 1, False),
            ("double", "x", 0.0),
        ],
    )
    def test_of_another_type_are_what_jackson_makes_of_them(self, type_: str, node: Any, expected: Any) -> None:
        schema = from_json_schema({"type": type_, "default": node})
        assert schema is not None
        assert (schema.default, type(schema.default)) == (expected, type(expected))

    @pytest.mark.parametrize(
        "schema",
        [
            {"type": "string", "default": 5},
            {"type": "bytes", "default": 5},
            {"type": "bytes", "default": "%%"},
            {"type": "int32", "name": DATE, "default": 2**40},
            {"type": "int32", "name": DATE, "default": 1.5},
            {"type": "int64", "name": TIMESTAMP, "default": "x"},
            {"type": "bytes", "name": DECIMAL, "parameters": {"scale": "2"}, "default": [1]},
            {"type": "bytes", "name": DECIMAL, "parameters": {"scale": "2"}, "default": 1e50},
            {"type": "bytes", "name": DECIMAL, "parameters": {"scale": "²"}},
            {"type": "struct", "fields": [], "default": 1},
            {"type": "map", "keys": {"type": "int8"}, "values": {"type": "int8"}, "default": 1},
        ],
    )
    def test_that_are_none_are_refused(self, schema: dict[str, Any]) -> None:
        with pytest.raises(DataError):
            from_json_schema(schema)

    def test_a_list_without_common_type_says_so(self) -> None:
        assert to_json_schema(ConnectSchema(SchemaType.ARRAY))["items"] is None
