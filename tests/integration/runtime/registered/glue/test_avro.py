"""Avro with AWS Glue's registry, end to end: what others write is read, what we write others read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from tests.integration.runtime.conftest import NEEDS_SPARK, Run
from tests.integration.runtime.registered.glue.conftest import Config, Shop, converter
from tests.integration.runtime.test_directory_pipeline import lines
from tests.support import unique
from tests.support.glue import Glue, avro, framed, opened, refuse_json
from tests.support.kafka import produce, read_all

MakeTopic = Callable[..., str]
ORDER: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"], "default": None}],
}
WITH_CITY = {**ORDER, "fields": [*ORDER["fields"], {"name": "city", "type": "string", "default": "?"}]}
DEAD = "errors.deadletterqueue.topic"


def _converter(aws: Glue, **keys: str) -> Config:
    return converter(aws, "AWSKafkaAvroConverter", **keys)


@pytest.fixture
def sink(aws: Glue, directory: Callable[..., Config]) -> Callable[..., Config]:
    """The configuration of a directory sink."""
    return lambda topic, **more: directory(topic, **_converter(aws), **more)


class TestSink:
    def test_with_a_secondary_deserializer_confluents_messages_are_read_too(
        self, topic: MakeTopic, bootstrap: str, registry_url: str, aws: Glue, sink: Callable[..., Config], run_here: Run
    ) -> None:
        name = topic()
        write = AvroSerializer(SchemaRegistryClient({"url": registry_url}), json.dumps(ORDER))
        before = write({"id": 1, "note": "before"}, SerializationContext(name, MessageField.VALUE))
        after = framed(aws.register(name, ORDER), avro(ORDER, {"id": 2, "note": "after"}))
        produce(bootstrap, name, [before, after])
        secondary = {"secondaryDeserializer": "KafkaAvroDeserializer", "schema.registry.url": registry_url}
        config = sink(name, **{f"value.converter.{key}": value for key, value in secondary.items()})

        run_here(config)

        assert [line["note"] for line in lines(config)] == ["before", "after"]

    def test_a_schema_and_a_compression_that_change_keep_the_order_and_bad_messages_are_dead_letters(
        self, topic: MakeTopic, bootstrap: str, aws: Glue, sink: Callable[..., Config], run_here: Run
    ) -> None:
        name, dead = topic(), unique("dead")
        old, new, unknown = aws.register(name, ORDER), aws.register(name, WITH_CITY), UUID(int=7)
        order = {"id": 1, "note": None}
        good = [
            framed(old, avro(ORDER, order)),
            framed(new, avro(WITH_CITY, {**order, "id": 2, "city": "Ulm"}), compressed=True),
            framed(old, avro(ORDER, {**order, "id": 3}), compressed=True),
            framed(new, avro(WITH_CITY, {**order, "id": 4, "city": "Bonn" * 200})),
            None,
        ]
        other_format = "Unknown header version or compression byte"
        bad = {
            b"no avro": other_format,
            b"\0\0\0\0\1id": other_format,
            b"\3\7" + old.bytes: other_format,
            framed(unknown, b"x"): f"Error retrieving the schema of GUID {unknown}: AWS Glue in eu-central-1 does",
            framed(old, avro(ORDER, order), compressed=True)[:-3]: "cannot be decompressed: it is cut off",
            b"\3\5" + old.bytes + b"no zlib": "cannot be decompressed",
            framed(old, avro(ORDER, order))[:-1]: "Field note: the message ends within a number",
        }
        produce(bootstrap, name, [good[0], *bad, *good[1:]])
        config = sink(name, **{"errors.tolerance": "all", f"{DEAD}.name": dead, f"{DEAD}.replication.factor": "1",
                               "errors.deadletterqueue.context.headers.enable": "true"})  # fmt: skip

        run_here(config)

        assert [line and (line["id"], line.get("city")) for line in lines(config)] == [
            (1, None), (2, "Ulm"), (3, None), (4, "Bonn" * 200), None
        ]  # fmt: skip
        letters = read_all(bootstrap, dead)
        assert [letter.value for letter in letters] == [*bad]
        texts = [(dict(letter.headers)["__connect.errors.exception.message"] or b"").decode() for letter in letters]
        assert [says for says, text in zip(bad.values(), texts, strict=True) if says not in text] == []

    def test_an_overloaded_registry_ends_the_run_which_reads_on_later(
        self, topic: MakeTopic, bootstrap: str, aws: Glue, sink: Callable[..., Config], run_here: Run
    ) -> None:
        name = topic()
        produce(bootstrap, name, [framed(aws.register(name, ORDER), avro(ORDER, {"id": 1, "note": None}))])
        config = sink(name, **{"errors.tolerance": "all"})

        fault = refuse_json(400, "ThrottlingException", "Rate exceeded")
        with aws.proxy.fault("GetSchemaVersion", fault, times=4), pytest.raises(RetriableError, match="Rate exceeded"):
            run_here(config)
        run_here(config)

        assert [line["id"] for line in lines(config)] == [1]


class TestSource:
    @pytest.mark.parametrize(
        ("compression", "more"), [("ZLIB", {}), ("NONE", NEEDS_SPARK)], ids=["compressed, without Spark", "with Spark"]
    )
    def test_what_two_tasks_write_others_read_with_a_schema_for_each_topic(
        self, bootstrap: str, aws: Glue, shop: Shop, run_here: Run, compression: str, more: Config
    ) -> None:
        converter = _converter(aws, schemaAutoRegistrationEnabled="true", compression=compression)
        config = shop.source("orders", "items", **converter, **more, **{"tasks.max": "2"})

        run_here(config)

        second = 5 if compression == "ZLIB" else 0
        for topic in (f"{shop.prefix}orders", f"{shop.prefix}items"):
            records = [opened(aws, record.value) for record in read_all(bootstrap, topic)]
            assert [record[:2] for record in records] == [(3, second)] * 3
            assert [record[3] for record in records] == [
                {"id": 1, "item": "chair"}, {"id": 2, "item": "table"}, {"id": 3, "item": None}
            ]  # fmt: skip
            schema = {"RegistryName": "default-registry", "SchemaName": topic}
            latest = aws.client.get_schema_version(SchemaId=schema, SchemaVersionNumber={"LatestVersion": True})
            assert {record[2] for record in records} == {UUID(latest["SchemaVersionId"])}

    def test_what_is_written_under_a_given_name_is_read_here_after_a_change_of_the_table_too(
        self, aws: Glue, shop: Shop, sink: Callable[..., Config], run_here: Run
    ) -> None:
        name = unique("named")
        converter = _converter(aws, schemaAutoRegistrationEnabled="true", compression="ZLIB", schemaName=name)
        source = shop.source("orders", **converter)
        run_here(source)
        shop.execute(
            "alter table orders add column city text", "insert into orders (item, city) values ('lamp', 'Ulm')"
        )
        run_here(source)
        config = sink(f"{shop.prefix}orders", **{"tasks.max": "2"})

        run_here(config)

        assert sorted((line["id"], line["item"], line.get("city")) for line in lines(config) if line["item"]) == [
            (1, "chair", None), (2, "table", None), (4, "lamp", "Ulm")
        ]  # fmt: skip
        made = aws.client.get_schema(SchemaId={"RegistryName": "default-registry", "SchemaName": name})
        assert (made["Compatibility"], made["LatestSchemaVersion"]) == ("BACKWARD", 2)

    def test_records_of_an_unregistered_schema_are_errors_that_name_the_key(
        self, aws: Glue, shop: Shop, run_here: Run
    ) -> None:
        with pytest.raises(DataError, match=r"`value\.converter\.schemaAutoRegistrationEnabled` to true"):
            run_here(shop.source("orders", **_converter(aws)))

    def test_a_refusal_is_an_error_of_the_configuration(self, aws: Glue, shop: Shop, run_here: Run) -> None:
        refused = refuse_json(400, "AccessDeniedException", "not authorized to perform glue:CreateSchema")

        with aws.proxy.fault("CreateSchema", refused), pytest.raises(ConfigError) as caught:
            run_here(shop.source("orders", **_converter(aws, schemaAutoRegistrationEnabled="true")))
        assert "not authorized to perform glue:CreateSchema" in caught.value.errors["value.converter"][0]
