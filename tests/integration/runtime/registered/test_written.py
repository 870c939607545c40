"""JSON Schema and Protobuf of all kinds with a real registry: what a run writes, confluent-kafka reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import json_format
from pyspark.sql import SparkSession

from airflow_kconnect.converters.protobuf.pool import message_class, message_type
from airflow_kconnect.converters.protobuf.sources import compiled
from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.registry.schema import RegisteredSchema
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.runtime.settings import run_settings
from airflow_kconnect.runtime.source.run import SourceRun
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.integration.runtime.registered.written_cases import CASES
from tests.support import unique
from tests.support.connectors.shaped_source import Shaped, ShapedSource
from tests.support.kafka import create_topic, read_values


class CorpusSource(ShapedSource):
    records: ClassVar[dict[str, Shaped]] = {name: Shaped(case.schema, case.values) for name, case in CASES.items()}


Written = Callable[[str], tuple[str, list[bytes]]]


def _run(
    source: type[ShapedSource],
    converter: str,
    bootstrap: str,
    url: str,
    spark: SparkSession,
    more: Mapping[str, str] | None = None,
) -> tuple[RunReport, str]:
    """One run writes all records of a source; answers its report and the prefix of the topics."""
    prefix = f"{unique('shaped')}-"
    for name in source.records:
        create_topic(bootstrap, f"{prefix}{name}")
    config = validate_connector(
        {
            "name": unique("shaped"),
            "connector.class": "VerifiableSource",
            "topic": "shaped",
            "value.converter": converter,
            "value.converter.schema.registry.url": url,
            **(more or {}),
        }
    )
    settings = run_settings(
        config, WorkerConfig.from_props({**worker_config(bootstrap), "group.id": unique("kconnect")}), "run"
    )
    made = source({**config.props, "prefix": prefix})
    return SourceRun(settings, made, LazySession("shaped", spark)).run(), prefix


def _written_by(converter: str, bootstrap: str, url: str, spark: SparkSession) -> Written:
    """Answers the topic of a case and its messages."""
    _, prefix = _run(CorpusSource, converter, bootstrap, url, spark)

    def written(name: str) -> tuple[str, list[bytes]]:
        return f"{prefix}{name}", [value or b"" for value in read_values(bootstrap, f"{prefix}{name}")]

    return written


@pytest.fixture(scope="module")
def json_schema(bootstrap: str, worker_topics: str, registry_url: str, spark: SparkSession) -> Written:
    """What JsonSchemaConverter has written."""
    return _written_by("io.confluent.connect.json.JsonSchemaConverter", bootstrap, registry_url, spark)


@pytest.fixture(scope="module")
def protobuf(bootstrap: str, worker_topics: str, registry_url: str, spark: SparkSession) -> Written:
    """What ProtobufConverter has written."""
    return _written_by("io.confluent.connect.protobuf.ProtobufConverter", bootstrap, registry_url, spark)


@pytest.mark.parametrize("name", CASES)
def test_json_schema(name: str, json_schema: Written, registry_url: str) -> None:
    topic, messages = json_schema(name)
    read = JSONDeserializer(None, schema_registry_client=SchemaRegistryClient({"url": registry_url}))
    context = SerializationContext(topic, MessageField.VALUE)
    assert [read(message, context) for message in messages] == CASES[name].as_json


@pytest.mark.parametrize("name", CASES)
def test_protobuf(name: str, protobuf: Written, registry_url: str) -> None:
    topic, messages = protobuf(name)
    client = SchemaRegistryClient({"url": registry_url})
    text = client.get_latest_version(f"{topic}-value").schema.schema_str
    of = message_class(message_type(compiled(RegisteredSchema("PROTOBUF", str(text))), str(CASES[name].schema.name)))
    # With a client it asks for the schema as a descriptor, which Apicurio answers with the text.
    read = ProtobufDeserializer(of, {"use.deprecated.format": False})
    context = SerializationContext(topic, MessageField.VALUE)
    found: list[Any] = [json_format.MessageToDict(read(message, context)) for message in messages]
    assert found == CASES[name].as_protobuf


class HalfSchemaless(ShapedSource):
    records: ClassVar[dict[str, Shaped]] = {
        "good": Shaped(CASES["optional"].schema, [{"n": 1, "s": "x"}]),
        "bad": Shaped(None, [{"n": 2}]),
    }


def test_only_records_without_a_schema_are_bad(
    bootstrap: str, worker_topics: str, registry_url: str, spark: SparkSession
) -> None:
    converter, more = "io.confluent.connect.avro.AvroConverter", {"errors.tolerance": "all"}
    report, prefix = _run(HalfSchemaless, converter, bootstrap, registry_url, spark, more)
    assert (report.records["written"], report.records["dead_lettered"]) == (1, 1)
    assert len(read_values(bootstrap, f"{prefix}good")) == 1
