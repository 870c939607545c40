"""Schemas of resources that declare the types of their columns."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from airflow_kconnect.connect.data import SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.connectors.dlt.schemas import declared_schema
from airflow_kconnect.connectors.dlt.source import DltSourceConnector
from tests.support.connectors.tasks import polls, started

PROPS = {
    "name": "d",
    "dlt.source": "tests.support.connectors.dlt_sources:typed",
    "dlt.schemas": "declared",
}


def read(**keys: str) -> tuple[DltSourceConnector, list[SourceRecord]]:
    connector = DltSourceConnector({**PROPS, **keys})
    return connector, list(polls(started(connector)))


def test_records_have_the_shapes_that_the_driver_declares() -> None:
    connector, records = read()
    shapes = connector.shapes()
    assert {record.value_schema for record in records} == {shape.schema for shape in shapes.values}
    assert {record.key_schema for record in records} == {shape.schema for shape in shapes.keys}


def test_values_are_converted_as_dlt_does_it() -> None:
    _, records = read()
    assert records[0].value == {
        "id": 1,
        "amount": Decimal("1.5"),
        "at": datetime(2026, 1, 1, tzinfo=UTC),
        "opens": 30_600_000,
        "tags": '["a"]',
    }


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ("surprise", "does not declare surprise, which this record has"),
        ("unfit", "column at is declared as timestamp, which this str is not"),
    ],
)
def test_a_record_that_the_schema_cannot_hold_is_an_error_of_its_own(more: str, text: str) -> None:
    _, records = read(**{"dlt.args.more": more})
    assert isinstance(records[1].value, DataError)
    assert text in str(records[1].value)
    assert records[1].key == {"id": 2}


def test_unless_it_is_asked_for_there_is_no_schema() -> None:
    connector, records = read(**{"dlt.schemas": "none"})
    assert {record.value_schema for record in records} == {None}
    assert connector.shapes().values == ()


@pytest.mark.parametrize(
    "columns",
    [{}, {"id": {"primary_key": True}}, {"id": {"data_type": "bigint"}, "x": {"nullable": True}}],
    ids=["no columns", "a type is missing", "one of two types is missing"],
)
def test_what_is_not_declared_wholly_has_no_schema(columns: dict[str, Any]) -> None:
    assert declared_schema("t", columns) is None


@pytest.mark.parametrize(
    ("hints", "kind", "name"),
    [
        ({"data_type": "text"}, SchemaType.STRING, None),
        ({"data_type": "double"}, SchemaType.FLOAT64, None),
        ({"data_type": "bool"}, SchemaType.BOOLEAN, None),
        ({"data_type": "binary"}, SchemaType.BYTES, None),
        ({"data_type": "date"}, SchemaType.INT32, "org.apache.kafka.connect.data.Date"),
        ({"data_type": "timestamp"}, SchemaType.INT64, "org.apache.kafka.connect.data.Timestamp"),
        ({"data_type": "wei"}, SchemaType.BYTES, "org.apache.kafka.connect.data.Decimal"),
    ],
    ids=str,
)
def test_types_of_dlt_are_types_of_connect(hints: dict[str, Any], kind: SchemaType, name: str | None) -> None:
    schema = declared_schema("t", {"c": hints})
    assert schema is not None
    field = schema.fields[0].schema
    assert (field.type, field.name, field.optional) == (kind, name, True)
