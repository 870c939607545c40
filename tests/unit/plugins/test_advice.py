"""Advice about classes that are not installed."""

from __future__ import annotations

import pytest

from airflow_kconnect.plugins.advice import advice, closest
from airflow_kconnect.plugins.registry import CONNECTORS, CONVERTERS, PREDICATES, TRANSFORMS, registry
from airflow_kconnect.validation.connector import inspect_connector

KNOWN = {group: registry().names(group) for group in (CONNECTORS, CONVERTERS, TRANSFORMS, PREDICATES)}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "io.debezium.connector.postgresql.PostgresConnector",
            "kconnect plugins install io.debezium:debezium-connector-postgres:3.5.0.Final.",
        ),
        ("io.debezium.connector.postgresql.PostgresConnector", "Without Java: JdbcSource reads the same tables"),
        ("MySqlConnector", "kconnect plugins install io.debezium:debezium-connector-mysql:3.5.0.Final."),
        ("io.apicurio.registry.utils.converter.AvroConverter", "Confluent's REST API"),
        ("org.apache.kafka.connect.mirror.MirrorSourceConnector", "install org.apache.kafka:connect-mirror:4.3.0"),
        ("io.confluent.connect.s3.S3SinkConnector", "download its archive from Confluent's hub"),
        (
            "io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector",
            "io.aiven:s3-connector-for-apache-kafka:VERSION",
        ),
        ("io.confluent.connect.hdfs3.Hdfs3SinkConnector", "Without Java: DirectorySink writes files"),
        ("io.confluent.connect.elasticsearch.ElasticsearchSinkConnector", "kconnect plugins install FILE.zip."),
        ("com.mongodb.kafka.connect.MongoSinkConnector", "install org.mongodb.kafka:mongo-kafka-connect:VERSION"),
        ("com.wepay.kafka.connect.bigquery.BigQuerySinkConnector", "Parquet files"),
        ("org.apache.iceberg.connect.IcebergSinkConnector", "org.apache.iceberg:iceberg-kafka-connect:1.9.2"),
        ("org.apache.camel.kafkaconnector.httpsink.CamelHttpsinkSinkConnector", "that of httpsink"),
        ("com.github.jcustenborder.kafka.connect.spooldir.elf.SpoolDirELFSourceConnector", "FilesSource"),
        ("io.confluent.connect.http.HttpSourceConnector", "HttpSource reads REST APIs"),
        ("io.confluent.kafka.connect.datagen.DatagenConnector", "VerifiableSource"),
        ("io.confluent.connect.transforms.MessageTimestampRouter", "airflow_kconnect.transforms.SQL"),
        ("com.acme.connect.SpecialConnector", "No Java plug-in below `plugin.path` has it"),
        ("com.acme.connect.transforms.Mask$Value", "run only with a Java connector"),
        ("airflow_kconnect.transforms.Mask$Value", "This version of airflow_kconnect has no such class"),
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
            "org.apache.kafka.conect.file.FileStreamSinkConnector",  # codespell:ignore
            ["org.apache.kafka.connect.file.FileStreamSinkConnector"],
        ),
        (
            CONNECTORS,
            "io.confluent.connect.jdbc.JdbcSourceConector",
            ["io.confluent.connect.jdbc.JdbcSourceConnector"],
        ),
        (CONNECTORS, "DirectroySinkConector", ["airflow_kconnect.connectors.directory.DirectorySinkConnector"]),
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
        ("value.converter", {"connector.class": "FileStreamSource", "value.converter": "io.apicurio.X.AvroConverter"}),
        (
            "transforms.a.type",
            {"connector.class": "FileStreamSource", "transforms": "a", "transforms.a.type": "io.debezium.transforms.X"},
        ),
    ],
)
def test_validation_gives_the_advice_once_and_last(key: str, config: dict[str, str]) -> None:
    errors = inspect_connector({"name": "c", "file": "/f", "topic": "t", **config}).errors[key]
    assert [error.count("Not supported here:") for error in errors].count(1) == 1


def test_validation_says_how_to_install_a_java_connector() -> None:
    (error,) = inspect_connector({"name": "c", "connector.class": "MySqlConnector"}).errors["connector.class"]
    assert "kconnect plugins install io.debezium:debezium-connector-mysql:" in error
