"""Protobuf of all kinds with a real registry: what confluent-kafka's serializer writes, a run reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import json_format
from pyspark.sql import SparkSession

from airflow_kconnect.converters.protobuf.pool import message_class, message_type
from airflow_kconnect.converters.protobuf.sources import compiled
from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from tests.integration.runtime.registered.protobuf_cases import CASES, Case
from tests.support import unique
from tests.support.kafka import create_topic, produce

PROTOBUF = "io.confluent.connect.protobuf.ProtobufConverter"


def _messages(case: Case, topic: str, url: str) -> list[bytes]:
    of = message_class(message_type(compiled(case.registered), case.message))
    write = ProtobufSerializer(of, SchemaRegistryClient({"url": url}), {"use.deprecated.format": False})
    context = SerializationContext(topic, MessageField.VALUE)
    return [write(json_format.ParseDict(given, of()), context) or b"" for given in case.given]


@pytest.fixture(scope="module")
def lines_of(
    bootstrap: str, worker_topics: str, registry_url: str, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[Any]]:
    """The lines of each case: one run reads the topics of all."""
    topics = {name: create_topic(bootstrap, unique("proto")) for name in CASES}
    for name, topic in topics.items():
        produce(bootstrap, topic, _messages(CASES[name], topic, registry_url))
    folder = tmp_path_factory.mktemp("protobuf")
    config = {
        "name": unique("sink"),
        "connector.class": "DirectorySink",
        "directory": str(folder),
        "topics": ",".join(topics.values()),
        "value.converter": PROTOBUF,
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
