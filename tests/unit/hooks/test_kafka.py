"""Connections of type `kafka` as worker keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import redact

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.kconnect import KafkaConnectHook
from airflow_kconnect.submit.worker_defaults import WORKER_DEFAULTS


@pytest.fixture
def worker_config(connection: Callable[..., None]) -> Any:
    """Worker keys of a connection with the given fields."""

    def read(**fields: Any) -> dict[str, str]:
        connection("my_kafka", **{"conn_type": "kafka"} | fields)
        return KafkaConnectHook("my_kafka").worker_config()

    return read


class TestWorkerConfig:
    def test_takes_what_says_how_to_reach_the_brokers(self, worker_config: Any) -> None:
        extra = {
            "bootstrap.servers": "a:9092,b:9092",
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "user",
            "sasl.password": "extra-pass-1",
            "ssl.ca.location": "/etc/ca.pem",
            "enable.ssl.certificate.verification": True,
        }

        config = worker_config(extra=extra)

        assert config == WORKER_DEFAULTS | {key: value for key, value in extra.items() if not key.startswith("enable")}

    def test_leaves_out_what_is_about_one_consumer(self, worker_config: Any) -> None:
        extra = {"bootstrap.servers": "a:9092", "group.id": "mine", "auto.offset.reset": "earliest"}

        assert worker_config(extra=extra) == {**WORKER_DEFAULTS, "bootstrap.servers": "a:9092"}

    @pytest.mark.parametrize(
        ("fields", "servers"),
        [
            ({"host": "broker", "port": 9093}, "broker:9093"),
            ({"host": "a:9092,b:9092"}, "a:9092,b:9092"),
            ({"host": "other", "extra": {"bootstrap.servers": "a:9092"}}, "a:9092"),
            ({"extra": {"bootstrap.servers": ["a:9092", "b:9092"]}}, "a:9092,b:9092"),
            ({"extra": {"metadata.broker.list": "a:9092"}}, "a:9092"),
        ],
        ids=["host-and-port", "host-list", "extra-wins", "list", "librdkafka-name"],
    )
    def test_finds_the_brokers(self, worker_config: Any, fields: dict[str, Any], servers: str) -> None:
        assert worker_config(**fields)["bootstrap.servers"] == servers

    def test_login_and_password_become_sasl_keys(self, worker_config: Any) -> None:
        config = worker_config(host="a:9092", login="user", password="login-pass-2")

        assert config["sasl.username"] == "user"
        assert config["sasl.password"] == "login-pass-2"

    def test_lists_are_written_as_kafka_reads_them(self, worker_config: Any) -> None:
        extra = {"bootstrap.servers": "a:9092", "kconnect.oauth.providers.allowed": ["file", "vault"]}

        assert worker_config(extra=extra)["kconnect.oauth.providers.allowed"] == "file,vault"

    def test_booleans_are_written_as_kafka_reads_them(self, worker_config: Any) -> None:
        extra = {"bootstrap.servers": "a:9092", "ssl.allow.dn.changes": True}

        assert worker_config(extra=extra)["ssl.allow.dn.changes"] == "true"

    def test_secrets_are_masked_from_here_on(self, worker_config: Any) -> None:
        worker_config(extra={"bootstrap.servers": "a:9092", "sasl.password": "extra-pass-3"})
        worker_config(host="a:9092", login="u", password="login-pass-4")

        assert redact("extra-pass-3 login-pass-4") == "*** ***"


class TestGeneric:
    """What Airflow's command line stores for type `kafka` where the Kafka provider is not installed."""

    def test_is_read_as_type_kafka(self, connection: Any) -> None:
        connection("plain", conn_type="generic", extra={"bootstrap.servers": "a:9092", "sasl.password": "pass-31"})

        config = KafkaConnectHook("plain").worker_config()

        assert config == {**WORKER_DEFAULTS, "bootstrap.servers": "a:9092", "sasl.password": "pass-31"}

    def test_has_brokers_by_its_host_too(self, connection: Any) -> None:
        connection("plain", conn_type="generic", host="a", port=9092)

        assert KafkaConnectHook("plain").worker_config() == {**WORKER_DEFAULTS, "bootstrap.servers": "a:9092"}

    def test_without_brokers_says_where_the_type_comes_from(self, connection: Any) -> None:
        connection("plain", conn_type="generic")

        with pytest.raises(ConfigError, match=r"names no brokers.* is not installed; use `--conn-type kconnect`"):
            KafkaConnectHook("plain").worker_config()


class TestErrors:
    def test_a_missing_connection_says_how_to_create_it(self) -> None:
        with pytest.raises(
            ConfigError, match=r"Kafka connection `nope` does not exist\. Create it: airflow connections add"
        ):
            KafkaConnectHook("nope").worker_config()

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"conn_type": "http", "host": "a:9092"}, "has type `http`, expected `kconnect` or `kafka`"),
            ({"extra": "{not json"}, "has an extra that is not JSON: .*character 1|does not exist"),
            ({"extra": "[1]"}, "not a JSON object|does not exist"),  # Airflow 3.1 drops such a connection
            ({"extra": {"security.protocol": "SSL"}}, "names no brokers"),
            ({}, "names no brokers"),
            ({"extra": {"bootstrap.servers": "a:9092", "oauth_cb": "my.module.token"}}, "`oauth_cb`"),
        ],
        ids=["type", "not-json", "no-object", "no-servers", "empty", "callback"],
    )
    def test_name_the_connection_and_what_is_wrong(
        self, worker_config: Any, fields: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(ConfigError, match=f"Kafka connection `my_kafka` .*(?:{message})"):
            worker_config(**fields)

    def test_do_not_quote_the_extra(self, worker_config: Any) -> None:
        with pytest.raises(ConfigError) as caught:
            worker_config(extra='{"sasl.password": "s3cret-in-extra')

        assert "s3cret-in-extra" not in str(caught.value)
