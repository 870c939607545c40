"""Which brokers the schema history of a Debezium connector is given."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
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


@pytest.mark.parametrize(
    "own",
    [
        {"schema.history.internal.producer.bootstrap.servers": "evil:9092"},
        {"schema.history.internal.consumer.security.protocol": "SASL_PLAINTEXT"},
        {"schema.history.internal.producer.sasl.login.callback.handler.class": "com.example.Handler"},
        {"schema.history.internal.consumer.interceptor.classes": "com.example.Interceptor"},
        {"schema.history.internal.producer.ssl.truststore.location": "/tmp/mine.jks"},
    ],
)
def test_a_history_that_is_reached_in_another_way_gets_nothing_of_the_workers_login(own: dict[str, str]) -> None:
    with pytest.raises(ConfigError) as raised:
        history_defaults(MARIADB, {"name": "shop", **own}, WORKER)
    [(key, [message])] = raised.value.errors.items()
    assert key == SERVERS
    assert next(iter(own)) in message


def test_sizes_and_timeouts_of_its_clients_are_the_connectors() -> None:
    own = {"schema.history.internal.producer.max.block.ms": "5000"}
    assert history_defaults(MARIADB, own, WORKER)[SERVERS] == "kafka:9092"


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
