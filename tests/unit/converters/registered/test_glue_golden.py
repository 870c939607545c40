"""Schemas, payloads and values as Amazon's own converters answer: recorded by tests/golden/GlueSchemas.java."""

from __future__ import annotations

import base64
import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.connect.data import TIMESTAMP, ConnectSchema, SchemaType, Shape
from airflow_kconnect.converters.json.schemas import from_json_schema, to_json_schema
from airflow_kconnect.converters.json_schema.glue import GlueJsonSchemaFormat
from airflow_kconnect.converters.protobuf.glue import GlueProtobufFormat
from airflow_kconnect.converters.registered.format import Format
from airflow_kconnect.converters.types import arrow_type
from airflow_kconnect.registry.schema import RegisteredSchema

Line = dict[str, Any]

GOLDEN = Path(__file__).parents[3] / "golden" / "glue.jsonl"
DAY_MS = 86_400_000
FORMS: dict[str, type[Format]] = {"JSON": GlueJsonSchemaFormat, "PROTOBUF": GlueProtobufFormat}
LINES: list[Line] = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
WRITTEN, READ = ([line for line in LINES if ("back" in line) is written] for written in (True, False))
READABLE = [
    line for line in LINES if "additionalTypes.Decimal" not in line["schema"] or "decimal.scale" in line["schema"]
]
"""Amazon's converter contradicts itself about decimals whose schema has no scale."""


def each(lines: list[Line]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("line", lines, ids=[f"{line['format']}-{n}" for n, line in enumerate(lines)])


def form_of(line: Line) -> Format:
    form = FORMS[line["format"]]
    return form(form.config().parse(line["config"]))


def for_arrow(schema: ConnectSchema, node: Any) -> Any:
    """A value as JsonConverter writes it, for a column."""
    if node is None:
        return None
    match schema.type:
        case SchemaType.STRUCT:
            return {field.name: for_arrow(field.schema, node[field.name]) for field in schema.fields}
        case SchemaType.ARRAY if schema.value_schema:
            return [for_arrow(schema.value_schema, item) for item in node]
        case SchemaType.MAP if schema.key_schema and schema.value_schema:
            keys, values = schema.key_schema, schema.value_schema
            pairs = node.items() if isinstance(node, dict) else node
            return [(for_arrow(keys, key), for_arrow(values, value)) for key, value in pairs]
        case SchemaType.BYTES:
            data = base64.b64decode(node)
            scale = (schema.parameters or {}).get("scale")
            return data if scale is None else Decimal(int.from_bytes(data, signed=True)).scaleb(-int(scale))
    return node * 1000 if schema.name == TIMESTAMP else node


def plain(schema: ConnectSchema, value: Any) -> Any:
    """A value of a column as the recorder writes it."""
    match value:
        case dict():
            return {field.name: plain(field.schema, value[field.name]) for field in schema.fields}
        case list() if schema.type is SchemaType.MAP and schema.key_schema and schema.value_schema:
            return [[plain(schema.key_schema, key), plain(schema.value_schema, item)] for key, item in value]
        case list() if schema.value_schema:
            return [plain(schema.value_schema, item) for item in value]
        case bytes():
            return base64.b64encode(value).decode()
        case Decimal():
            return str(value)
        case datetime():
            return round(value.timestamp() * 1000)
        case date():
            return value.toordinal() * DAY_MS - date(1970, 1, 1).toordinal() * DAY_MS
    return value


def as_json(schema: ConnectSchema | None) -> Any:
    assert schema is not None
    return to_json_schema(schema)


def with_texts(node: Any) -> Any:
    """A schema whose parameters are texts: Amazon's converter has one that is null."""
    if isinstance(node, dict):
        return {k: "" if v is None and k != "default" else with_texts(v) for k, v in node.items()}
    return [with_texts(item) for item in node] if isinstance(node, list) else node


def by_name(node: Any) -> Any:
    """A schema with fields by their names: without `connect.index` Amazon's converter shuffles them."""
    if not isinstance(node, dict):
        return node
    inner = {key: by_name(value) for key, value in node.items()}
    if "fields" in node:
        inner["fields"] = sorted(map(by_name, node["fields"]), key=lambda field: str(field["field"]))
    return inner


def comparable(payload: bytes) -> bytes | list[int]:
    """A payload; key and value of an entry in an array may come in any order."""
    return sorted(payload) if b'"key":' in payload else payload


@each(WRITTEN)
def test_the_text_of_a_schema_is_amazons(line: Line) -> None:
    schema = from_json_schema(line["connect"])

    assert form_of(line).schema_of(Shape(schema)).text == line["schema"]


@each(WRITTEN)
def test_a_payload_is_amazons(line: Line) -> None:
    form, schema = form_of(line), from_json_schema(line["connect"])
    assert schema is not None
    data = pa.array([for_arrow(schema, line["value"])], arrow_type(schema))

    payloads, errors = form.encoder(RegisteredSchema(line["format"], line["schema"]), Shape(schema)).encode(data)

    assert (comparable(payloads[0].as_py()), errors) == (comparable(base64.b64decode(line["payload"])), None)


@each(READABLE)
def test_amazons_schema_is_read_as_amazon_reads_it(line: Line) -> None:
    payload = base64.b64decode(line["payload"])

    shape = form_of(line).shape_of(RegisteredSchema(line["format"], line["schema"]), payload)

    expected = with_texts(line.get("back", line["connect"]))
    if line in READ and line["format"] == "JSON":
        assert by_name(as_json(shape.schema)) == by_name(expected)
    else:
        assert as_json(shape.schema) == expected


@each(READABLE)
def test_amazons_payload_is_read_as_amazon_reads_it(line: Line) -> None:
    form, payload = form_of(line), base64.b64decode(line["payload"])
    registered = RegisteredSchema(line["format"], line["schema"])
    schema = form.shape_of(registered, payload).schema
    assert schema is not None

    data, errors = form.decoder(registered, payload).decode(pa.array([payload], pa.binary()))

    assert (plain(schema, data[0].as_py()), errors) == (line["read"], None)
