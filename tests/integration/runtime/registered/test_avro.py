"""Avro with a schema registry, end to end: what others write is read, what we write others read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.local.ports import free_port
from airflow_kconnect.runtime.preview import preview
from tests.integration.runtime.conftest import Run
from tests.integration.runtime.test_directory_pipeline import lines
from tests.support import unique
from tests.support.kafka import produce, read_all

MakeTopic = Callable[..., str]
Config = dict[str, str]

ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}
WITH_CITY = {**ORDER, "fields": [*ORDER["fields"], {"name": "city", "type": "string", "default": "?"}]}


def _avro(url: str, **more: str) -> Config:
    keys = {"schema.registry.url": url, "max.retries": "0", **{key.replace("_", "."): v for key, v in more.items()}}
    prefixed = {f"value.converter.{key}": value for key, value in keys.items()}
    return {"value.converter": "io.confluent.connect.avro.AvroConverter", **prefixed}


def _order(number: int, **more: Any) -> dict[str, Any]:
    return {"id": number, "note": None, "tags": ["a", "b"], "at": 1_700_000_000_000 + number, **more}


@pytest.fixture
def messages(registry_url: str) -> Callable[..., list[bytes]]:
    """Serialized by confluent-kafka: `messages(topic, schema, *orders)`."""

    def serialized(topic: str, schema: dict[str, Any], *orders: dict[str, Any]) -> list[bytes]:
        write = AvroSerializer(SchemaRegistryClient({"url": registry_url}), json.dumps(schema))
        context = SerializationContext(topic, MessageField.VALUE)
        return [write(order, context) or b"" for order in orders]

    return serialized


@pytest.fixture
def sink(tmp_path: Path, registry_url: str) -> Callable[..., Config]:
    """The configuration of a directory sink that reads Avro."""

    def config(topic: str, **more: str) -> Config:
        base = {"name": unique("sink"), "connector.class": "DirectorySink", "directory": str(tmp_path / "out")}
        return {**base, "topics": topic, **_avro(registry_url), **more}

    return config


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Config]:
    """A SQLite table with rows, and the configuration of a source that reads it: `table("orders", 3)`."""
    path = tmp_path / "shop.sqlite"

    def config(*names: str, rows: int = 3, **more: str) -> Config:
        with closing(sqlite3.connect(path)) as connection, connection:
            for name in names:
                connection.execute(f"create table if not exists {name} (id integer primary key, item text)")
                connection.executemany(
                    f"insert into {name} (item) values (?)", [(f"{name} {n}" if n % 2 else None,) for n in range(rows)]
                )
        base = {
            "name": unique("source"),
            "connector.class": "JdbcSource",
            "connection.url": f"jdbc:sqlite:{path}",
            "mode": "incrementing",
            "incrementing.column.name": "id",
            "topic.prefix": f"{unique('t')}-",
        }
        return {**base, "table.whitelist": ",".join(names), **more}

    return config


def _read(bootstrap: str, url: str, topic: str) -> list[Any]:
    read = AvroDeserializer(SchemaRegistryClient({"url": url}))
    context = SerializationContext(topic, MessageField.VALUE)
    return [read(record.value, context) for record in read_all(bootstrap, topic)]


class TestSink:
    def test_what_confluents_serializer_wrote_is_in_the_files_in_its_order_whichever_schema_it_has(
        self, topic: MakeTopic, bootstrap: str, messages: Callable[..., list[bytes]], sink: Callable[..., Config],
        run_here: Run,
    ) -> None:  # fmt: skip
        name = topic()
        old, new = (
            messages(name, ORDER, _order(1), _order(3, note="x")),
            messages(name, WITH_CITY, _order(2, city="Ulm")),
        )
        produce(bootstrap, name, [old[0], *new, old[1], None])
        config = sink(name)

        run_here(config)

        rest = {"tags": ["a", "b"]}
        assert lines(config) == [
            {"id": 1, "note": None, **rest, "at": "2023-11-14T22:13:20.001Z"},
            {"id": 2, "note": None, **rest, "at": "2023-11-14T22:13:20.002Z", "city": "Ulm"},
            {"id": 3, "note": "x", **rest, "at": "2023-11-14T22:13:20.003Z"},
            None,
        ]

    def test_transformations_see_the_schema(
        self, topic: MakeTopic, bootstrap: str, messages: Callable[..., list[bytes]], sink: Callable[..., Config],
        run_here: Run,
    ) -> None:  # fmt: skip
        name = topic()
        produce(bootstrap, name, messages(name, ORDER, _order(7)))
        only_id = {"transforms": "x", "transforms.x.type": "ExtractField$Value", "transforms.x.field": "id"}
        config = sink(name, **only_id)

        run_here(config)

        assert lines(config) == [7]

    def test_bad_messages_are_dead_letters_with_their_bytes(
        self, topic: MakeTopic, bootstrap: str, messages: Callable[..., list[bytes]], sink: Callable[..., Config],
        run_here: Run,
    ) -> None:  # fmt: skip
        name, dead = topic(), unique("dead")
        good = messages(name, ORDER, _order(1), _order(2))
        bad = {
            b"no avro": "Unknown magic byte!",
            b"\0\0\1\0\0unknown id": "Error retrieving the schema of id 65536",
            good[0][:-3]: "Field at: the message ends within a number",
        }
        produce(bootstrap, name, [good[0], *bad, good[1]])
        config = sink(name, **{"errors.tolerance": "all", "errors.deadletterqueue.topic.name": dead,
                               "errors.deadletterqueue.topic.replication.factor": "1",
                               "errors.deadletterqueue.context.headers.enable": "true"})  # fmt: skip

        run_here(config)

        letters = read_all(bootstrap, dead)
        assert ([line["id"] for line in lines(config)], [letter.value for letter in letters]) == ([1, 2], [*bad])
        texts = [(dict(letter.headers)["__connect.errors.exception.message"] or b"").decode() for letter in letters]
        assert [says for says, text in zip(bad.values(), texts, strict=True) if says not in text] == []

    def test_a_bad_message_ends_the_run_and_is_named(
        self, topic: MakeTopic, bootstrap: str, sink: Callable[..., Config], run_here: Run
    ) -> None:
        name = topic()
        produce(bootstrap, name, [b"no avro"])

        with pytest.raises(DataError, match=f"{name}-0@0.*Unknown magic byte!"):
            run_here(sink(name))

    def test_an_unavailable_registry_makes_no_dead_letter_and_the_next_run_resumes(
        self, topic: MakeTopic, bootstrap: str, messages: Callable[..., list[bytes]], sink: Callable[..., Config],
        run_here: Run,
    ) -> None:  # fmt: skip
        name = topic()
        produce(bootstrap, name, messages(name, ORDER, _order(1)))
        config = sink(name, **{"errors.tolerance": "all"})
        down = {"value.converter.schema.registry.url": f"http://127.0.0.1:{free_port()}"}

        with pytest.raises(RetriableError, match="The schema registry is unavailable"):
            run_here({**config, **down})

        run_here(config)
        assert [line["id"] for line in lines(config)] == [1]


class TestSource:
    def test_confluents_deserializer_reads_each_table(
        self, bootstrap: str, table: Callable[..., Config], run_here: Run, registry_url: str
    ) -> None:
        config = table("orders", "returns") | _avro(registry_url)

        run_here(config)

        found = {name: _read(bootstrap, registry_url, config["topic.prefix"] + name) for name in ("orders", "returns")}
        assert found == {
            name: [{"id": n + 1, "item": f"{name} {n}" if n % 2 else None} for n in range(3)] for name in found
        }

    def test_a_schema_is_registered_for_the_topic_of_the_records(
        self, table: Callable[..., Config], run_here: Run, registry_url: str
    ) -> None:
        suffix = unique("routed")
        route = {
            "transforms": "r",
            "transforms.r.type": "RegexRouter",
            "transforms.r.regex": ".*",
            "transforms.r.replacement": suffix,
        }

        run_here(table("orders") | _avro(registry_url) | route)

        subjects = SchemaRegistryClient({"url": registry_url}).get_subjects()
        assert [subject for subject in subjects if suffix in subject] == [f"{suffix}-value"]

    def test_dropped_records_need_no_registry(self, table: Callable[..., Config], run_here: Run) -> None:
        drop = {"transforms": "drop", "transforms.drop.type": "Filter"}

        report = run_here(table("orders") | _avro(f"http://127.0.0.1:{free_port()}") | drop)

        assert report.records["filtered"] == 3

    def test_records_that_a_transformation_rejects_register_nothing(
        self, table: Callable[..., Config], run_here: Run, registry_url: str
    ) -> None:
        reject = {"transforms": "x", "transforms.x.type": "ExtractField$Value", "transforms.x.field": "none"}
        config = table("orders") | _avro(registry_url) | reject | {"errors.tolerance": "all"}

        run_here(config)

        subjects = SchemaRegistryClient({"url": registry_url}).get_subjects()
        assert [subject for subject in subjects if config["topic.prefix"] in subject] == []

    def test_an_unavailable_registry_can_be_retried_and_nothing_is_committed(
        self, bootstrap: str, table: Callable[..., Config], run_here: Run, registry_url: str
    ) -> None:
        config = table("orders")

        with pytest.raises(RetriableError, match="The schema registry is unavailable"):
            run_here(config | _avro(f"http://127.0.0.1:{free_port()}"))

        run_here(config | _avro(registry_url))
        assert len(_read(bootstrap, registry_url, f"{config['topic.prefix']}orders")) == 3

    def test_an_incompatible_schema_names_the_subject(
        self, table: Callable[..., Config], run_here: Run, registry_url: str
    ) -> None:
        config = table("orders") | _avro(registry_url)
        subject = f"{config['topic.prefix']}orders-value"
        other = {"type": "record", "name": "orders", "fields": [{"name": "id", "type": "string"}]}
        client = SchemaRegistryClient({"url": registry_url})
        client.register_schema(subject, _schema(other))
        client.set_compatibility(subject, "FULL")

        with pytest.raises(DataError, match=f"rejects a schema of subject {subject}: 409"):
            run_here(config)

    def test_the_latest_version_is_what_is_written(
        self, bootstrap: str, table: Callable[..., Config], run_here: Run, registry_url: str
    ) -> None:
        latest = _avro(registry_url, auto_register_schemas="false", use_latest_version="true")
        config = table("orders", rows=1) | latest
        name = f"{config['topic.prefix']}orders"
        fields = [{"name": "item", "type": ["null", "string"]}, {"name": "id", "type": "long"},
                  {"name": "city", "type": "string", "default": "Ulm"}]  # fmt: skip
        schema = {"type": "record", "name": "orders", "fields": fields}
        SchemaRegistryClient({"url": registry_url}).register_schema(f"{name}-value", _schema(schema))

        run_here(config)

        assert _read(bootstrap, registry_url, name) == [{"item": None, "id": 1, "city": "Ulm"}]

    def test_without_registration_an_unknown_schema_is_an_error(
        self, table: Callable[..., Config], run_here: Run, registry_url: str
    ) -> None:
        with pytest.raises(DataError, match="does not have a schema of subject"):
            run_here(table("orders") | _avro(registry_url, auto_register_schemas="false"))


def test_a_preview_shows_avro_as_json(
    spark: SparkSession, messages: Callable[..., list[bytes]], sink: Callable[..., Config]
) -> None:
    name = unique("topic")
    [message] = messages(name, ORDER, _order(1, note="x"))

    [answer] = preview(sink(name), [{"value": message.decode("utf-8", "surrogateescape")}])

    shown = {"id": 1, "note": "x", "tags": ["a", "b"], "at": 1_700_000_000_001}
    assert json.loads(answer["value"]) == shown


def _schema(schema: dict[str, Any]) -> Any:
    from confluent_kafka.schema_registry import Schema

    return Schema(json.dumps(schema), "AVRO")


def test_all_errors_of_the_keys_are_told_at_once(sink: Callable[..., Config], run_here: Run) -> None:
    config = sink("any", **{"value.converter.max.retries": "x", "value.converter.schema.registry.url": "ftp://host"})

    with pytest.raises(ConfigError) as caught:
        run_here(config)

    assert set(caught.value.errors) == {"value.converter.max.retries", "value.converter.schema.registry.url"}
