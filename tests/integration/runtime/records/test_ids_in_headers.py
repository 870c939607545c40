"""Ids of schemas in headers, from end to end: what Confluent's client wrote is read, and what we write it reads."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.runtime.preview import preview
from tests.integration.runtime.conftest import Run
from tests.integration.runtime.test_directory_pipeline import lines
from tests.support import unique
from tests.support.databases.postgres import PostgresServer
from tests.support.kafka import Headers, produce, read_all
from tests.support.registry_front import serving, with_guids

Config = dict[str, str]
CONVERTERS = {
    "avro": "io.confluent.connect.avro.AvroConverter",
    "json": "io.confluent.connect.json.JsonSchemaConverter",
    "protobuf": "io.confluent.connect.protobuf.ProtobufConverter",
}
IN_HEADER = {
    "value.converter.value.schema.id.serializer": "io.confluent.kafka.serializers.schema.id.HeaderSchemaIdSerializer"
}
# The payload begins with the magic byte of a prefix and an id: the header goes first.
ORDER = {"type": "record", "name": "Order", "fields": [{"name": f"n{n}", "type": "long"} for n in range(6)]}


@pytest.fixture(scope="module")
def front(registry_url: str) -> Iterator[str]:
    with serving(with_guids(registry_url)) as url:
        yield url


def _values(url: str, kind: str = "avro", **more: str) -> Config:
    keys = {"schema.registry.url": url, "max.retries": "0", **more}
    return {"value.converter": CONVERTERS[kind], **{f"value.converter.{key}": text for key, text in keys.items()}}


@pytest.fixture
def sink(tmp_path: Path, front: str) -> Callable[..., Config]:
    """The configuration of a directory sink."""

    def config(topic: str, kind: str = "avro", **more: str) -> Config:
        base = {"name": unique("sink"), "connector.class": "DirectorySink", "directory": str(tmp_path / "out")}
        return {**base, "topics": topic, **_values(front, kind), **more}

    return config


@pytest.fixture
def source(tmp_path: Path, front: str) -> Callable[..., Config]:
    """The configuration of a source of a table with two rows, whose ids of schemas are in headers."""
    path = tmp_path / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table orders (id integer primary key, item text not null)")
        connection.execute("insert into orders (item) values ('green tea'), ('black tea')")

    def config(kind: str = "avro", **more: str) -> Config:
        base = {
            "name": unique("source"),
            "connector.class": "JdbcSource",
            "connection.url": f"jdbc:sqlite:{path}",
            "mode": "incrementing",
            "incrementing.column.name": "id",
            "topic.prefix": f"{unique('t')}-",
        }
        return {**base, **_values(front, kind), **IN_HEADER, **more}

    return config


@pytest.fixture
def write(front: str, bootstrap: str) -> Callable[..., None]:
    """Writes orders as Confluent's client does: `write(topic, by_header, *numbers)`."""

    def go(topic: str, by_header: bool, *numbers: int) -> None:
        conf = {"schema.id.serializer": header_schema_id_serializer} if by_header else {}
        serialize = AvroSerializer(SchemaRegistryClient({"url": front}), json.dumps(ORDER), conf=conf)
        for number in numbers:
            headers: Headers = []
            order = {f"n{n}": number if n == 5 else 0 for n in range(6)}
            data = serialize(order, SerializationContext(topic, MessageField.VALUE, headers=headers))
            produce(bootstrap, topic, [data], headers=headers)

    return go


class TestSink:
    def test_ids_in_headers_and_before_payloads_keep_their_order_and_records_with_wrong_headers_are_dead_letters(
        self, topic: Callable[..., str], write: Callable[..., None], sink: Callable[..., Config], run_here: Run,
        bootstrap: str,
    ) -> None:  # fmt: skip
        """A tombstone with a header is one."""
        name, dead = topic(), topic()
        problems = {
            b"\1" + bytes(16): "Error retrieving the schema of GUID 00000000-0000-0000-0000-000000000000",
            b"\1short": "Unknown magic byte!",
            b"\7" + bytes(16): "Unknown magic byte!",
        }
        for number, by_header in enumerate([False, True, True]):
            write(name, by_header, number)
        for header in problems:
            produce(bootstrap, name, [b"payload"], headers=[("__value_schema_id", header)])
        write(name, False, 3)
        write(name, True, 4)
        produce(bootstrap, name, [None], headers=read_all(bootstrap, name)[1].headers)
        queue = {"errors.deadletterqueue.topic.name": dead, "errors.deadletterqueue.context.headers.enable": "true"}
        config = sink(name, **{"errors.tolerance": "all"}, **queue)

        run_here(config)

        assert [line and line["n5"] for line in lines(config)] == [0, 1, 2, 3, 4, None]
        letters = read_all(bootstrap, dead)
        assert [(letter.value, letter.headers[0]) for letter in letters] == [
            (b"payload", ("__value_schema_id", header)) for header in problems
        ]
        said = [dict(letter.headers)["__connect.errors.exception.message"] or b"" for letter in letters]
        assert all(problem in text.decode() for problem, text in zip(problems.values(), said, strict=True)), said

    def test_rows_that_need_no_spark_keep_their_order(
        self, topic: Callable[..., str], write: Callable[..., None], front: str, postgres: PostgresServer, run_here: Run
    ) -> None:
        name, database = topic(), postgres.create_database()
        for number, by_header in enumerate([False, False, True, False, True]):
            write(name, by_header, number)
        keys = {"connector.class": "JdbcSink", "topics": name, "table.name.format": "orders", "auto.create": "true"}

        run_here({"name": unique("sink"), **keys, **_values(front), **database.config})

        assert database.execute("SELECT n5 FROM orders") == [(0,), (1,), (2,), (3,), (4,)]

    def test_headers_are_not_looked_at_if_they_should_not(
        self, topic: Callable[..., str], write: Callable[..., None], sink: Callable[..., Config], run_here: Run
    ) -> None:
        name = topic()
        write(name, True, 1)
        key = "value.converter.value.schema.id.deserializer"

        with pytest.raises(DataError, match=r"id 0: |Unknown magic byte"):
            run_here(sink(name, **{key: "PrefixSchemaIdDeserializer"}))


INSERT = {
    "transforms": "h",
    "transforms.h.type": "org.apache.kafka.connect.transforms.InsertHeader",
    "transforms.h.header": "from",
    "transforms.h.value.literal": "shop",
}


class TestSource:
    @pytest.mark.parametrize(
        ("kind", "more", "headers"),
        [
            ("avro", {}, ["__value_schema_id"]),
            pytest.param("json", {}, ["__value_schema_id"], marks=pytest.mark.exhaustive),
            ("protobuf", INSERT, ["from", "__value_schema_id"]),
        ],
    )
    def test_what_it_writes_a_sink_and_confluents_client_read(
        self, source: Callable[..., Config], sink: Callable[..., Config], run_here: Run, kind: str, more: Config,
        headers: list[str], bootstrap: str, front: str,
    ) -> None:  # fmt: skip
        config = source(kind, **more)
        topic = f"{config['topic.prefix']}orders"
        into, rows = sink(topic, kind), [{"id": 1, "item": "green tea"}, {"id": 2, "item": "black tea"}]

        run_here(config)
        run_here(into)

        assert lines(into) == rows
        records = read_all(bootstrap, topic)
        assert [[name for name, _ in record.headers] for record in records] == [headers] * 2
        registry = SchemaRegistryClient({"url": front})
        readers: dict[str, Any] = {
            "avro": AvroDeserializer(registry),
            "json": JSONDeserializer(None, schema_registry_client=registry),
        }
        for read in [readers[kind]] if kind in readers else []:
            assert rows == [
                read(record.value, SerializationContext(topic, MessageField.VALUE, headers=record.headers))
                for record in records
            ]

    def test_a_registry_without_guids_is_an_error_that_says_so(
        self, source: Callable[..., Config], run_here: Run, registry_url: str
    ) -> None:
        with pytest.raises(ConfigError, match="ids in headers need a registry that has GUIDs"):
            run_here(source(**{"value.converter.schema.registry.url": registry_url}))


def test_a_preview_reads_them(
    topic: Callable[..., str], write: Callable[..., None], bootstrap: str, front: str
) -> None:
    name = topic()
    write(name, True, 1)
    write(name, False, 2)
    records = [
        {
            "value": _as_text(record.value),
            "headers": [{"key": key, "value": _as_text(value)} for key, value in record.headers],
        }
        for record in read_all(bootstrap, name)
    ]

    answers = preview(_values(front), records)

    assert [json.loads(answer["value"])["n5"] for answer in answers] == [1, 2]


def _as_text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "surrogateescape")
