"""JDBC sinks: keys, defaults, and all errors of a configuration at once."""

from __future__ import annotations

import pickle

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.changes import SCHEMA_CHANGE
from airflow_kconnect.connectors.jdbc.driver.drivers import CLASS, COORDINATES, PATH
from airflow_kconnect.connectors.jdbc.sink.config import NESTED
from airflow_kconnect.connectors.jdbc.sink_connector import AivenJdbcSink, ConfluentJdbcSink
from airflow_kconnect.validation.connector import inspect_connector, validate_connector

URL = "jdbc:postgresql://localhost:5432/shop"
CONFIG = {
    "name": "orders",
    "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
    "topics": "orders",
    "connection.url": URL,
}


def errors(**keys: str) -> dict[str, list[str]]:
    """The errors of a configuration; key words have _ for dots."""
    with pytest.raises(ConfigError) as raised:
        validate_connector({**CONFIG, **{key.replace("_", "."): value for key, value in keys.items()}})
    return raised.value.errors


class TestDefaults:
    def test_are_confluents(self) -> None:
        inspection = inspect_connector(CONFIG)
        values = inspection.parsed(inspection.own)
        expected = {
            "insert.mode": "insert",
            "pk.mode": "none",
            "pk.fields": [],
            "delete.enabled": False,
            "auto.create": False,
            "auto.evolve": False,
            "table.name.format": "${topic}",
            "fields.whitelist": [],
            "db.timezone": "UTC",
            "date.timezone": "DB_TIMEZONE",
            "timestamp.precision.mode": "microseconds",
            "quote.sql.identifiers": "always",
            "replace.null.with.default": True,
            "string.output.value.column.name": "record_value",
            "batch.size": 3000,
            "max.retries": 10,
            "retry.backoff.ms": 3000,
            "connection.attempts": 3,
            "connection.backoff.ms": 10000,
            "offsets.table": "kconnect_offsets",
        }
        assert {key: values[key] for key in expected} == expected

    @pytest.mark.parametrize("name", ["JdbcSink", "JdbcSinkConnector", "io.aiven.connect.jdbc.JdbcSinkConnector"])
    def test_names_of_the_class(self, name: str) -> None:
        assert validate_connector({**CONFIG, "connector.class": name}).kind == "sink"


class TestErrors:
    def test_all_at_once(self) -> None:
        by_key = errors(insert_mode="merge", delete_enabled="true", db_timezone="Mars", pk_mode="record_value")
        assert set(by_key) == {"insert.mode", "delete.enabled", "db.timezone"}
        assert "needs `pk.mode` record_key (it is record_value)" in by_key["delete.enabled"][0]
        assert "is not a time zone" in by_key["db.timezone"][0]

    @pytest.mark.parametrize("mode", ["upsert", "update", "UPSERT"])
    def test_modes_that_need_a_primary_key(self, mode: str) -> None:
        (text,) = errors(insert_mode=mode)["pk.mode"]
        assert f"`insert.mode` {mode.lower()} needs a primary key: set kafka, record_key or record_value" in text

    def test_names_for_the_place_in_kafka(self) -> None:
        assert "has 2 names" in errors(pk_mode="kafka", pk_fields="a,b")["pk.fields"][0]

    @pytest.mark.parametrize(
        "url", ["jdbc:oracle:thin:@h:1521/x", "jdbc:sqlserver://h:1433;databaseName=x", "jdbc:other:x"]
    )
    def test_databases_whose_driver_is_not_known(self, url: str) -> None:
        by_key = errors(connection_url=url)
        assert list(by_key) == [CLASS]
        assert f"name its class, and where to get it from in {COORDINATES} or {PATH}" in by_key[CLASS][0]
        keys = {"connection.url": url, CLASS: "a.B", COORDINATES: "a:b:1"}
        assert ConfluentJdbcSink.validate({**CONFIG, **keys}) == {}

    def test_one_place_of_a_driver_is_enough(self) -> None:
        keys = {"connection.url": "jdbc:h2:/x", COORDINATES: "a:b:1", PATH: "/b.jar"}
        assert list(ConfluentJdbcSink.validate({**CONFIG, **keys})) == [PATH]

    def test_drivers_that_the_worker_does_not_allow(self) -> None:
        keys = {"connection.url": "jdbc:h2:/x", COORDINATES: "a:b:1"}
        with pytest.raises(ConfigError, match=r"a:b:1 is not allowed: a driver is code"):
            validate_connector({**CONFIG, **keys})

    def test_drivers_that_are_not_used(self) -> None:
        (warning,) = ConfluentJdbcSink.warnings({**CONFIG, PATH: "/b.jar"})
        assert warning == f"`{PATH}` has no effect: postgresql is written to by a Python driver"
        assert ConfluentJdbcSink.warnings({**CONFIG, PATH: "/b.jar", "connection.url": "jdbc:h2:/x"}) == []

    def test_url_with_a_password_is_not_shown(self) -> None:
        (text,) = errors(connection_url="jdbc:postgresql://u:S3cr3t@h/x")["connection.url"]
        assert "S3cr3t" not in text

    @pytest.mark.parametrize("name", ["a..b", "a.b.c.d", ".", "x\0y"])
    def test_names_of_tables(self, name: str) -> None:
        assert "is not the name of a table" in errors(table_name_format=name)["table.name.format"][0]

    def test_mapping(self) -> None:
        config = {**CONFIG, "connector.class": "io.aiven.connect.jdbc.JdbcSinkConnector"}
        with pytest.raises(ConfigError, match="'orders' is not of the form topic:table"):
            validate_connector({**config, "topics.to.tables.mapping": "orders"})


def test_keys_without_effect_are_warned_of() -> None:
    warnings = validate_connector({**CONFIG, "batch.size": "500", "dialect.name": "PostgreSqlDatabaseDialect"}).warnings
    assert [warning.partition(":")[0] for warning in warnings] == [
        "`batch.size` has no effect",
        "`dialect.name` has no effect",
    ]


class TestConnector:
    def test_reads_keys_only_where_they_count(self) -> None:
        assert ConfluentJdbcSink(CONFIG).needs == frozenset()
        assert ConfluentJdbcSink({**CONFIG, "pk.mode": "record_key"}).needs == {"key"}

    def test_guarantee(self) -> None:
        assert ConfluentJdbcSink(CONFIG).exactly_once
        assert not ConfluentJdbcSink({**CONFIG, "offsets.table": ""}).exactly_once

    def test_password_is_never_shown(self) -> None:
        connector = ConfluentJdbcSink({**CONFIG, "connection.password": "S3cr3t"})
        writer = pickle.loads(pickle.dumps(connector.writer()))  # noqa: S301
        settings = writer._target.settings
        assert settings.password == "S3cr3t"
        assert "S3cr3t" not in repr(settings) + repr(vars(writer))

    def test_multi_of_aiven_is_insert(self) -> None:
        connector = AivenJdbcSink({**CONFIG, "insert.mode": "multi"})
        assert connector._settings.insert_mode == "insert"

    def test_replays_of_plain_inserts_are_refused(self) -> None:
        assert ConfluentJdbcSink.replay_problem({"insert.mode": "upsert"}) is None
        text = ConfluentJdbcSink.replay_problem({})
        assert text == "would add the rows of the interval again with `insert.mode` insert: set upsert"

    def test_dead_letters_have_no_place_in_kafka(self) -> None:
        dead = {"errors.deadletterqueue.topic.name": "dead", "pk.mode": "kafka", "offsets.table": ""}
        connector = ConfluentJdbcSink({**CONFIG, **dead})
        assert connector.stored_offsets([TopicPartition("orders", 0)]) == {}
        with pytest.raises(ConfigError, match=r"`pk\.mode`: is kafka: dead letters cannot be replayed"):
            connector.stored_offsets([TopicPartition("dead", 0)])


class TestSchemaChanges:
    @pytest.mark.parametrize(
        ("keys", "expected"),
        [
            ({}, "fail"),
            ({"auto.evolve": "true"}, "evolve"),
            ({"auto.evolve": "false"}, "fail"),
            ({SCHEMA_CHANGE: "IGNORE"}, "ignore"),
            ({SCHEMA_CHANGE: "evolve"}, "evolve"),
            ({SCHEMA_CHANGE: "evolve", "auto.evolve": "true"}, "evolve"),
            ({SCHEMA_CHANGE: "ignore", "auto.evolve": "false"}, "ignore"),
        ],
    )
    def test_auto_evolve_decides_unless_it_is_said(self, keys: dict[str, str], expected: str) -> None:
        validate_connector({**CONFIG, **keys})
        assert ConfluentJdbcSink({**CONFIG, **keys})._settings.schema_changes == expected

    @pytest.mark.parametrize(("policy", "evolve"), [("ignore", "true"), ("fail", "true"), ("evolve", "false")])
    def test_contradictions_are_errors(self, policy: str, evolve: str) -> None:
        with pytest.raises(ConfigError) as raised:
            validate_connector({**CONFIG, SCHEMA_CHANGE: policy, "auto.evolve": evolve})
        (text,) = raised.value.errors[SCHEMA_CHANGE]
        assert text == f"is {policy}, but `auto.evolve` is {evolve}: leave `auto.evolve` out"

    def test_unknown_words_are_errors(self) -> None:
        with pytest.raises(ConfigError) as raised:
            validate_connector({**CONFIG, SCHEMA_CHANGE: "drop", NESTED: "text"})
        assert set(raised.value.errors) == {SCHEMA_CHANGE, NESTED}
