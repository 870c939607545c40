"""JSON Schema with a schema registry, end to end: what others write is read, what we write others read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.integration.runtime.conftest import Run
from tests.integration.runtime.test_directory_pipeline import lines
from tests.support import unique
from tests.support.kafka import produce, read_all

ORDER = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Order",
    "type": "object",
    "properties": {"id": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["id"],
}


def _converter(url: str) -> dict[str, str]:
    return {
        "value.converter": "io.confluent.connect.json.JsonSchemaConverter",
        "value.converter.schema.registry.url": url,
    }


def test_a_sink_reads_what_confluents_serializer_wrote(
    topic: Callable[..., str], bootstrap: str, registry_url: str, run_here: Run, tmp_path: Path
) -> None:
    name = topic()
    write = JSONSerializer(json.dumps(ORDER), SchemaRegistryClient({"url": registry_url}))
    context = SerializationContext(name, MessageField.VALUE)
    produce(bootstrap, name, [write({"id": 1, "note": "x"}, context), write({"id": 2}, context)])
    sink = {"name": unique("sink"), "connector.class": "DirectorySink", "directory": str(tmp_path), "topics": name}

    run_here(sink | _converter(registry_url))

    assert lines(sink) == [{"id": 1, "note": "x"}, {"id": 2, "note": None}]


def test_confluents_deserializer_reads_what_a_source_wrote(
    bootstrap: str, registry_url: str, run_here: Run, tmp_path: Path
) -> None:
    path, prefix = tmp_path / "shop.sqlite", f"{unique('t')}-"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table orders (id integer primary key, item text)")
        connection.execute("insert into orders (item) values ('tea'), (null)")
    source = {
        "name": unique("source"),
        "connector.class": "JdbcSource",
        "connection.url": f"jdbc:sqlite:{path}",
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "topic.prefix": prefix,
    }

    run_here(source | _converter(registry_url))

    name = f"{prefix}orders"
    read = JSONDeserializer(None, schema_registry_client=SchemaRegistryClient({"url": registry_url}))
    context = SerializationContext(name, MessageField.VALUE)
    found = [read(record.value, context) for record in read_all(bootstrap, name)]
    assert found == [{"id": 1, "item": "tea"}, {"id": 2, "item": None}]
