"""JSON Schema of all kinds with a real registry: what confluent-kafka's serializer writes, a run reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from pyspark.sql import SparkSession

from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from tests.integration.runtime.registered.json_schema_cases import CASES, Case
from tests.support import unique
from tests.support.kafka import create_topic, produce

JSON_SCHEMA = "io.confluent.connect.json.JsonSchemaConverter"


def _messages(case: Case, topic: str, url: str) -> list[bytes]:
    client = SchemaRegistryClient({"url": url})
    references = []
    for name, schema in case.references:
        subject = f"{topic}-{name}"
        client.register_schema(subject, Schema(json.dumps(schema), "JSON"))
        references.append(SchemaReference(name, subject, 1))
    schema = Schema(
        json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", **case.schema}), "JSON", references
    )
    write = JSONSerializer(schema, client)
    context = SerializationContext(topic, MessageField.VALUE)
    return [write(given, context) or b"" for given in case.given]


@pytest.fixture(scope="module")
def lines_of(
    bootstrap: str, worker_topics: str, registry_url: str, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[Any]]:
    """The lines of each case: one run reads the topics of all."""
    topics = {name: create_topic(bootstrap, unique("json")) for name in CASES}
    for name, topic in topics.items():
        produce(bootstrap, topic, _messages(CASES[name], topic, registry_url))
    folder = tmp_path_factory.mktemp("json-schema")
    config = {
        "name": unique("sink"),
        "connector.class": "DirectorySink",
        "directory": str(folder),
        "topics": ",".join(topics.values()),
        "value.converter": JSON_SCHEMA,
        "value.converter.schema.registry.url": registry_url,
    }
    run(RunSpec(config, {**worker_config(bootstrap), "group.id": unique("kconnect")}, run_id=unique("run")), spark)
    return {name: _lines(folder / topic) for name, topic in topics.items()}


def _lines(folder: Path) -> list[Any]:
    files = sorted(folder.rglob("*.json"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@pytest.mark.parametrize("name", CASES)
def test_what_confluents_serializer_wrote_is_read(name: str, lines_of: dict[str, list[Any]]) -> None:
    assert lines_of[name] == CASES[name].read
