"""Advice about classes that are not installed."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.plugins import CONNECTORS, CONVERTERS, PREDICATES, TRANSFORMS, registry
from airflow_kconnect.connect.validation.connector import inspect_connector
from airflow_kconnect.connect.validation.foreign_classes import advice, closest

KNOWN = {group: registry().names(group) for group in (CONNECTORS, CONVERTERS, TRANSFORMS, PREDICATES)}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("io.debezium.connector.postgresql.PostgresConnector", "JdbcSource reads the same tables"),
        ("io.debezium.connector.mysql.MySqlConnector", "keep it on a Connect cluster"),
        ("com.amazonaws.services.schemaregistry.kafkaconnect.AWSKafkaAvroConverter", "Confluent's REST API"),
        ("io.apicurio.registry.utils.converter.AvroConverter", "Confluent's REST API"),
        ("org.apache.kafka.connect.mirror.MirrorSourceConnector", "connect-mirror-maker"),
        ("io.confluent.connect.s3.S3SinkConnector", "object stores"),
        ("io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector", "object stores"),
        ("io.aiven.kafka.connect.gcs.GcsSinkConnector", "object stores"),
        ("io.confluent.connect.hdfs3.Hdfs3SinkConnector", "HDFS"),
        ("io.confluent.connect.elasticsearch.ElasticsearchSinkConnector", "write a connector in Python"),
        ("com.mongodb.kafka.connect.MongoSinkConnector", "write a connector in Python"),
        ("com.snowflake.kafka.connector.SnowflakeSinkConnector", "Parquet files"),
        ("com.wepay.kafka.connect.bigquery.BigQuerySinkConnector", "Parquet files"),
        ("org.apache.iceberg.connect.IcebergSinkConnector", "Parquet files"),
        ("com.github.jcustenborder.kafka.connect.spooldir.SpoolDirCsvSourceConnector", "FileStreamSource"),
        ("io.confluent.kafka.connect.datagen.DatagenConnector", "VerifiableSource"),
        ("io.confluent.connect.transforms.MessageTimestampRouter", "airflow_kconnect.transforms.SQL"),
        ("com.acme.connect.SpecialConnector", "Java classes are not loaded here"),
    ],
)
def test_well_known_classes_get_a_sentence_of_what_to_do(name: str, says: str) -> None:
    assert says in advice(name, KNOWN[CONNECTORS])


@pytest.mark.parametrize("group", list(KNOWN))
def test_no_installed_class_is_taken_for_a_foreign_one(group: str) -> None:
    assert [name for name in KNOWN[group] if "Not supported" in advice(name, [])] in (
        [],
        ["io.debezium.transforms.ExtractNewRecordState"],
    )


@pytest.mark.parametrize(
    ("group", "name", "wanted"),
    [
        (CONNECTORS, "FileStreamSorce", ["org.apache.kafka.connect.file.FileStreamSourceConnector"]),
        (
            CONNECTORS,
            "org.apache.kafka.conect.file.FileStreamSinkConnector",
            ["org.apache.kafka.connect.file.FileStreamSinkConnector"],
        ),
        (CONVERTERS, "jsonconverter", ["org.apache.kafka.connect.json.JsonConverter"]),
        (CONVERTERS, "org.apache.kafka.connect.storage.JsonConverter", ["org.apache.kafka.connect.json.JsonConverter"]),
        (
            TRANSFORMS,
            "org.apache.kafka.connect.transforms.Cast",
            ["org.apache.kafka.connect.transforms.Cast$Key", "org.apache.kafka.connect.transforms.Cast$Value"],
        ),
        (PREDICATES, "TopicNameMatch", ["org.apache.kafka.connect.transforms.predicates.TopicNameMatches"]),
        (CONNECTORS, "Zebra", []),
        (CONNECTORS, "", []),
    ],
)
def test_the_closest_names_are_found(group: str, name: str, wanted: list[str]) -> None:
    assert closest(name, KNOWN[group])[: len(wanted) or None] == wanted


@pytest.mark.parametrize(
    ("key", "config"),
    [
        ("connector.class", {"connector.class": "io.debezium.connector.mysql.MySqlConnector"}),
        ("value.converter", {"connector.class": "FileStreamSource", "value.converter": "AWSKafkaAvroConverter"}),
        (
            "transforms.a.type",
            {"connector.class": "FileStreamSource", "transforms": "a", "transforms.a.type": "io.debezium.transforms.X"},
        ),
    ],
)
def test_validation_gives_the_advice_once_and_last(key: str, config: dict[str, str]) -> None:
    errors = inspect_connector({"name": "c", "file": "/f", "topic": "t", **config}).errors[key]
    assert [error.count("Not supported here:") for error in errors].count(1) == 1
