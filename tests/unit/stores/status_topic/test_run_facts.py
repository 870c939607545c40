"""What a record of runs says about a connector: no secret is in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.hosting.password_keys import note
from airflow_kconnect.stores.status_topic.run_facts import facts_of
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns

SINK = {"name": "c", "connector.class": "FileStreamSink", "topics": "t", "file": "/out"}
JDBC = {"name": "c", "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector", "topics": "t"}
JAVA = {"name": "c", "connector.class": "com.example.SecretSink", "topics": "t", "door": "hunter22", "host": "db"}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No Java class was asked on this machine."""
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path))


def _told(config: dict[str, str]) -> ConnectorRuns:
    return facts_of(config, "sink").connector


def test_what_is_no_secret_is_there_as_it_was_written() -> None:
    config = {**SINK, "value.converter": "${env:CONVERTER}"}
    assert _told(config).config == config


@pytest.mark.parametrize(
    ("config", "secret"),
    [
        ({**JDBC, "connection.url": "jdbc:postgresql://db/shop", "connection.password": "hunter22"}, "hunter22"),
        ({**JDBC, "connection.url": "jdbc:postgresql://db/shop?user=me&password=hunter22"}, "hunter22"),
        ({**JDBC, "connection.url": "jdbc:postgresql://me:hunter22@db/shop"}, "hunter22"),
        ({**SINK, "consumer.override.sasl.jaas.config": 'x required password="hunter22";'}, "hunter22"),
        ({**SINK, "unknown.api.key": "hunter22"}, "hunter22"),
        ({**SINK, "transforms": "a", "transforms.a.type": "x.Y", "transforms.a.secret": "hunter22"}, "hunter22"),
        ({**SINK, "note": "-----BEGIN PRIVATE KEY-----\nhunter22"}, "hunter22"),
        ({**SINK, "headers": "Accept: text/plain|Authorization: Bearer hunter22"}, "hunter22"),
        ({**SINK, "headers": '{"Authorization": "Basic hunter22"}'}, "hunter22"),
        (JAVA, "hunter22"),
        ({**JAVA, "connector.class": "no.such.Class"}, "hunter22"),
    ],
)
def test_a_secret_is_hidden(config: dict[str, str], secret: str) -> None:
    facts = facts_of(config, "sink")
    assert secret not in facts.connector.encode().decode()
    assert "[hidden]" in facts.connector.config.values()
    assert secret not in facts.hide(f"cannot log in with {secret}")


def test_of_a_java_class_that_was_asked_only_the_passwords_are_hidden() -> None:
    note(JAVA["connector.class"], [{"name": "door", "type": "PASSWORD"}, {"name": "host", "type": "STRING"}])
    assert _told(JAVA).config == {**JAVA, "door": "[hidden]"}


def test_settings_of_foreign_stages_of_a_java_class_are_hidden_though_the_class_was_asked() -> None:
    note(JAVA["connector.class"], [{"name": "host", "type": "STRING"}])
    cast = {"transforms.a.type": "org.apache.kafka.connect.transforms.Cast$Value", "transforms.a.spec": "id:int32"}
    cipher = {"transforms.b.type": "com.example.Cipher", "transforms.b.negate": "false"}
    converter = {"value.converter": "com.example.Sealed"}
    config = {**JAVA, **cast, **cipher, **converter}
    told = _told({**config, "transforms.b.data_keys": "hunter22", "value.converter.seal": "hunter22"}).config
    assert told == {**config, "transforms.b.data_keys": "[hidden]", "value.converter.seal": "[hidden]"}


def test_a_java_class_without_passwords_was_asked_too() -> None:
    note(JAVA["connector.class"], [{"name": "host", "type": "STRING"}])
    assert _told(JAVA).config["host"] == "db"


def test_topics_and_group_are_those_that_are_used() -> None:
    props = {**SINK, "errors.deadletterqueue.topic.name": "dead"}
    config = {**SINK, "errors.deadletterqueue.topic.name": "${env:DEAD}"}
    connector = facts_of(config, "sink", props).connector
    assert (connector.group, connector.dead_letter_topic) == ("connect-c", "dead")
    assert connector.config["errors.deadletterqueue.topic.name"] == "${env:DEAD}"


def test_the_kind_is_that_of_the_class() -> None:
    assert facts_of(SINK, None).connector.kind == "sink"
