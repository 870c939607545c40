"""Which brokers the schema history of a Debezium connector is given."""

from __future__ import annotations

import pytest

from airflow_kconnect.hosted.known.schema_history import history_defaults

MARIADB = "io.debezium.connector.mariadb.MariaDbConnector"
SERVERS = "schema.history.internal.kafka.bootstrap.servers"
WORKER = {
    "bootstrap.servers": "kafka:9092",
    "security.protocol": "SASL_SSL",
    "producer.security.protocol": "SASL_SSL",
    "consumer.security.protocol": "SASL_PLAINTEXT",
    "admin.security.protocol": "SASL_SSL",
    "producer.linger.ms": "5",
}


def test_it_is_reached_as_the_worker_reaches_its_brokers() -> None:
    assert history_defaults(MARIADB, {"topic.prefix": "shop"}, WORKER) == {
        SERVERS: "kafka:9092",
        "schema.history.internal.producer.security.protocol": "SASL_SSL",
        "schema.history.internal.consumer.security.protocol": "SASL_PLAINTEXT",
    }


def test_keys_of_the_connector_win() -> None:
    own = {"schema.history.internal.consumer.security.protocol": "SSL"}
    assert not history_defaults(MARIADB, own, WORKER).keys() & own.keys()


@pytest.mark.parametrize(
    ("connector_class", "props"),
    [
        (MARIADB, {SERVERS: "other:9092"}),
        (MARIADB, {"schema.history.internal": "io.debezium.storage.file.history.FileSchemaHistory"}),
        ("io.debezium.connector.postgresql.PostgresConnector", {}),
        ("io.debezium.connector.jdbc.JdbcSinkConnector", {}),
        ("com.example.mysql.Connector", {}),
    ],
)
def test_others_are_left_alone(connector_class: str, props: dict[str, str]) -> None:
    assert history_defaults(connector_class, props, WORKER) == {}
