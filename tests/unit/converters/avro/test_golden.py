"""Schemas of Avro and of Connect, as Confluent's AvroData converts them: recorded by tests/golden/AvroSchemas.java."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.data import ConnectSchema, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.format import AvroFormat
from airflow_kconnect.converters.json.schemas import from_json_schema, schema_text
from airflow_kconnect.registry.schema import RegisteredSchema

Line = dict[str, Any]

GOLDEN = Path(__file__).parents[3] / "golden"
TWO_OF_A_NAME = "Two different schemas have the name io.confluent.connect.avro.MapEntry"


def _lines(name: str) -> list[Line]:
    return [json.loads(line) for line in (GOLDEN / name).read_text(encoding="utf-8").splitlines()]


def _form(line: Line) -> AvroFormat:
    return AvroFormat(AvroFormat.config().parse(line["config"]))


def _connect(form: AvroFormat, avro: object) -> ConnectSchema:
    schema = form.shape_of(RegisteredSchema("AVRO", json.dumps(avro)), b"").schema
    assert schema is not None
    return schema


def _json(schema: ConnectSchema) -> object:
    return json.loads(schema_text(schema, "BASE64"))


def _text(avro: object) -> str:
    """As it is registered: members in the same order."""
    return json.dumps(avro, separators=(",", ":"), ensure_ascii=False)


def _is_newer(avro: str) -> bool:
    """What the recorded copy does not know yet: fixed as a decimal, and a union of one type as that type."""
    return ('"logicalType": "decimal"' in avro and '"type": "fixed"' in avro) or '["string"]' in avro


TO_CONNECT = [line for line in _lines("avro-to-connect.jsonl") if not _is_newer(json.dumps(line["avro"]))]


@pytest.mark.parametrize("line", TO_CONNECT, ids=lambda line: json.dumps(line["avro"])[:60])
def test_avro_to_connect_and_back(line: Line) -> None:
    form = _form(line)

    schema = _connect(form, line["avro"])

    assert _json(schema) == line["connect"]
    assert form.schema_of(Shape(schema)).text == _text(line["back"])


@pytest.mark.parametrize("line", _lines("connect-to-avro.jsonl"), ids=lambda line: line["connect"].get("name", "none"))
def test_connect_to_avro_and_back(line: Line) -> None:
    form, schema = _form(line), from_json_schema(line["connect"])
    assert schema is not None

    try:
        avro = form.schema_of(Shape(schema)).text
    except DataError as error:
        assert TWO_OF_A_NAME in str(error)
        return

    assert avro == _text(line["avro"])
    assert _json(_connect(form, line["avro"])) == line["back"]


def test_few_lines_are_left_out() -> None:
    assert len(TO_CONNECT) > 0.9 * len(_lines("avro-to-connect.jsonl"))
