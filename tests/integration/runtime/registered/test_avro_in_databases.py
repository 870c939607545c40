"""Avro records in the tables of JDBC sinks: every type arrives, whichever way a database is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.integration.runtime.conftest import Run
from tests.support import unique
from tests.support.databases.postgres import PostgresServer
from tests.support.kafka import produce

MakeTopic = Callable[..., str]

ITEM = {
    "type": "record",
    "name": "Item",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "note", "type": ["null", "string"]},
        {"name": "weight", "type": "float"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}},
        {"name": "day", "type": ["null", {"type": "int", "logicalType": "date"}]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "opens", "type": {"type": "int", "logicalType": "time-millis"}},
    ],
}
AT = datetime(2023, 11, 14, 22, 13, 20, 1000, UTC)


def _item(number: int) -> dict[str, Any]:
    found = {"id": number, "note": None if number % 2 else "x", "weight": 0.5, "price": Decimal("12.30")}
    return {**found, "day": date(2024, 2, 29) if number % 2 else None, "at": AT, "opens": time(8, 30)}


def _write(bootstrap: str, url: str, topic: str, count: int) -> None:
    write = AvroSerializer(SchemaRegistryClient({"url": url}), json.dumps(ITEM))
    context = SerializationContext(topic, MessageField.VALUE)
    produce(bootstrap, topic, [write(_item(number), context) for number in range(1, count + 1)])


def _sink(topic: str, url: str, **database: str) -> dict[str, str]:
    return {
        "name": unique("sink"),
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "topics": topic,
        "table.name.format": "items",
        "auto.create": "true",
        "value.converter": "io.confluent.connect.avro.AvroConverter",
        "value.converter.schema.registry.url": url,
        **database,
    }


def test_rows_of_postgresql_have_every_type(
    topic: MakeTopic, bootstrap: str, registry_url: str, postgres: PostgresServer, run_here: Run
) -> None:
    name, database = topic(), postgres.create_database()
    _write(bootstrap, registry_url, name, 2)

    run_here(_sink(name, registry_url, **database.config))

    rows = database.execute('SELECT id, note, weight, price, day, "at", opens FROM items ORDER BY id')
    same = (AT.replace(tzinfo=None), time(8, 30))
    assert rows == [
        (1, None, 0.5, Decimal("12.30"), date(2024, 2, 29), *same),
        (2, "x", 0.5, Decimal("12.30"), None, *same),
    ]
