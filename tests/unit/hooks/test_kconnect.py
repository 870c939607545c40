"""The hook of Kafka connections, as far as it needs no broker; the rest is in tests/integration/hooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import redact
from confluent_kafka.admin import AdminClient

from airflow_kconnect import KafkaConnectHook
from airflow_kconnect.errors import ConnectorConfigError
from airflow_kconnect.submit.worker_defaults import WORKER_DEFAULTS
from airflow_kconnect.worker_config.keys import WorkerConfig

WORKER = {"bootstrap.servers": "broker:9092"}
SOURCE = {"name": "lines", "connector.class": "FileStreamSource", "file": "/data/in", "topic": "lines"}


@pytest.fixture
def hook(tmp_path: Path) -> KafkaConnectHook:
    """A hook without a connection, whose files are in `tmp_path`."""
    return KafkaConnectHook(None, WORKER, folder=tmp_path)


class TestWorkerConfig:
    def test_given_keys_win_over_those_of_the_connection(self, connection: Any) -> None:
        connection("team", conn_type="kconnect", host="a:9092", extra={"group_id": "connection"})

        config = KafkaConnectHook("team", {"group.id": "given"}).worker_config()

        assert config == {**WORKER_DEFAULTS, "bootstrap.servers": "a:9092", "group.id": "given"}

    def test_no_connection_is_needed(self, hook: KafkaConnectHook) -> None:
        assert hook.worker_config() == WORKER_DEFAULTS | WORKER

    def test_an_empty_topic_in_the_extra_switches_statuses_off(self, connection: Any) -> None:
        connection("team", conn_type="kconnect", host="a:9092", extra={"status.storage.topic": ""})

        assert not WorkerConfig.from_props(KafkaConnectHook("team").worker_config()).writes_statuses


class TestGetConn:
    def test_is_a_client_of_confluent_kafka(self, hook: KafkaConnectHook) -> None:
        assert isinstance(hook.get_conn(), AdminClient)

    def test_values_of_variables_are_masked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KC_PASSWORD", "hook-pass-71")
        login = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "etl"}

        KafkaConnectHook(None, {**WORKER, **login, "sasl.password": "${env:KC_PASSWORD}"}).get_conn()

        assert redact("hook-pass-71") == "***"

    def test_what_the_client_refuses_is_not_retried(self) -> None:
        with pytest.raises(ConnectorConfigError, match="the Kafka client refuses its configuration"):
            KafkaConnectHook(None, {**WORKER, "admin.reconnect.backoff.ms": "-5"}).get_conn()


class TestValidate:
    def test_a_valid_one_is_described(self, hook: KafkaConnectHook) -> None:
        assert hook.validate(SOURCE) == {
            "connector": "lines",
            "connector_class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
            "kind": "source",
            "warnings": [],
        }

    def test_relative_paths_are_relative_to_the_folder(self, hook: KafkaConnectHook, tmp_path: Path) -> None:
        (tmp_path / "lines.json").write_text(json.dumps(SOURCE))

        assert hook.validate("lines.json")["connector"] == "lines"

    def test_all_errors_come_at_once_and_are_not_retried(self, hook: KafkaConnectHook) -> None:
        with pytest.raises(ConnectorConfigError) as caught:
            hook.validate({"name": "lines", "connector.class": "FileStreamSource", "batch.size": "x"})

        assert all(f"`{key}`" in str(caught.value) for key in ("batch.size", "file", "topic"))

    def test_a_missing_connection_is_named_with_its_runbook(self) -> None:
        with pytest.raises(ConnectorConfigError, match=r"`nope` does not exist.*runbook: .*kafka-connection"):
            KafkaConnectHook("nope").validate(SOURCE)


def test_a_connector_without_name_cannot_be_paused(hook: KafkaConnectHook) -> None:
    with pytest.raises(ConnectorConfigError, match='Missing required configuration "name"'):
        hook.pause({"topic": "t"})


class TestTestConnection:
    def test_a_missing_connection_is_reported(self) -> None:
        done, message = KafkaConnectHook("nope").test_connection()

        assert (done, "`nope` does not exist" in message) == (False, True)

    def test_a_client_that_refuses_its_configuration_is_reported_without_secrets(self, connection: Any) -> None:
        extra = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "mechanism-secret-31", "admin.linger.ms": "x"}
        connection("team", conn_type="kconnect", host="a:9092", login="u", password="mechanism-secret-31", extra=extra)

        done, message = KafkaConnectHook("team").test_connection()

        assert not done
        assert "mechanism-secret-31" not in message

    def test_variables_cannot_be_tested(self, connection: Any) -> None:
        connection("team", conn_type="kconnect", host="a:9092", extra={"group_id": "${airflow-var:group}"})

        done, message = KafkaConnectHook("team").test_connection()

        assert (done, "`group.id`: is a variable" in message) == (False, True)
