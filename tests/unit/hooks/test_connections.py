"""Connections of type `kconnect` as worker keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import redact
from confluent_kafka.admin import AdminClient

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.connections import FIELDS, connection_worker_keys
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.provider_info import get_provider_info
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support.certificates import self_signed


@pytest.fixture
def worker_config(connection: Callable[..., None]) -> Any:
    """Worker keys of a connection with the given fields; its host is a:9092."""

    def read(extra: Any = None, **fields: Any) -> dict[str, str]:
        connection("team", **{"conn_type": "kconnect", "host": "a:9092", "extra": extra or {}} | fields)
        return connection_worker_keys("team")

    return read


@pytest.fixture(scope="session")
def pem() -> tuple[str, str]:
    """A certificate and its key, as PEM."""
    return self_signed()


class TestWorkerConfig:
    def test_host_names_the_brokers(self, worker_config: Any) -> None:
        assert worker_config(host="a:9092,b:9092") == {"bootstrap.servers": "a:9092,b:9092"}

    def test_a_port_belongs_to_the_host(self, worker_config: Any) -> None:
        assert worker_config(host="a", port=9093) == {"bootstrap.servers": "a:9093"}

    def test_fields_of_the_form_become_worker_keys(self, worker_config: Any) -> None:
        extra = {
            "group_id": "connect-cluster",
            "security_protocol": "SASL_SSL",
            "sasl_mechanism": "PLAIN",
            "ssl_ca": "/etc/ca.pem",
            "ssl_certificate": "/etc/client.pem",
            "ssl_private_key": "/etc/client.key",
            "ssl_key_password": "kpass-1",
            "offset_storage_topic": "offsets",
            "config_storage_topic": "configs",
            "status_storage_topic": "status",
        }

        assert worker_config(extra, login="user", password="login-pass-1") == {
            "bootstrap.servers": "a:9092",
            "group.id": "connect-cluster",
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "user",
            "sasl.password": "login-pass-1",
            "ssl.ca.location": "/etc/ca.pem",
            "ssl.certificate.location": "/etc/client.pem",
            "ssl.key.location": "/etc/client.key",
            "ssl.key.password": "kpass-1",
            "offset.storage.topic": "offsets",
            "config.storage.topic": "configs",
            "status.storage.topic": "status",
        }

    def test_empty_fields_are_not_set(self, worker_config: Any) -> None:
        assert worker_config({"group_id": "", "ssl_ca": None}) == {"bootstrap.servers": "a:9092"}

    def test_the_schema_registry_is_that_of_both_converters(self, worker_config: Any) -> None:
        extra = {
            "schema_registry_url": "https://registry",
            "schema_registry_username": "ann",
            "schema_registry_password": "registry-pass-1",
        }

        assert worker_config(extra) == {
            "bootstrap.servers": "a:9092",
            **{
                f"{role}.converter.{key}": value
                for role in ("key", "value")
                for key, value in {
                    "schema.registry.url": "https://registry",
                    "basic.auth.credentials.source": "USER_INFO",
                    "basic.auth.user.info": "ann:registry-pass-1",
                }.items()
            },
        }

    @pytest.mark.parametrize(
        "given",
        [{"schema_registry_username": "ann"}, {"schema_registry_username": "ann", "schema_registry_password": "p"}],
        ids=["no password", "no URL"],
    )
    def test_a_part_of_a_registry_is_an_error(self, worker_config: Any, given: dict[str, str]) -> None:
        with pytest.raises(ConfigError, match="has a part of what a schema registry needs"):
            worker_config(given)

    def test_other_keys_of_the_extra_are_worker_keys(self, worker_config: Any) -> None:
        extra = {"offset.storage.replication.factor": 1, "topic.creation.enable": False, "producer.linger.ms": "5"}

        config = worker_config(extra)

        assert config["offset.storage.replication.factor"] == "1"
        assert config["topic.creation.enable"] == "false"
        assert config["producer.linger.ms"] == "5"

    def test_worker_keys_win_over_fields(self, worker_config: Any) -> None:
        extra = {"group_id": "field", "group.id": "key", "bootstrap.servers": "b:9092"}

        assert worker_config(extra) == {"bootstrap.servers": "b:9092", "group.id": "key"}

    def test_all_keys_are_known_to_the_worker(self, worker_config: Any) -> None:
        extra = dict.fromkeys(FIELDS, "x") | {"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER"}
        extra |= {"oauth_provider": "azure"}

        assert WorkerConfig.from_props(worker_config(extra)).warnings == ()

    def test_the_form_has_the_fields_that_are_read(self) -> None:
        (declared,) = get_provider_info()["connection-types"]

        assert set(declared["conn-fields"]) == set(FIELDS)


class TestPem:
    @pytest.mark.parametrize(
        "written",
        [
            lambda text: text,
            lambda text: text.replace("\n", " "),
            lambda text: text.replace("\n", ""),
            lambda text: text.replace("\n", "\\n"),
            lambda text: text.replace("\n", "\r\n"),
        ],
        ids=["lines", "password field", "one line", "escaped", "windows"],
    )
    def test_text_is_what_the_client_takes(self, worker_config: Any, pem: tuple[str, str], written: Any) -> None:
        certificate, key = pem
        extra = {
            "security_protocol": "SSL",
            "ssl_ca": written(certificate + certificate),
            "ssl_certificate": written(certificate),
            "ssl_private_key": written(key),
        }

        config = worker_config(extra)

        assert config["ssl.truststore.certificates"] == certificate + certificate
        assert config["ssl.keystore.certificate.chain"] == certificate
        assert config["ssl.keystore.key"] == key
        AdminClient(ClientConfigs(config).admin())

    def test_an_old_encrypted_key_keeps_its_headers(self, worker_config: Any) -> None:
        key = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n"

        assert worker_config({"ssl_private_key": key})["ssl.keystore.key"] == key


class TestSecrets:
    def test_all_are_masked_from_here_on(self, worker_config: Any, pem: tuple[str, str]) -> None:
        extra = {
            "security_protocol": "SASL_SSL",
            "sasl_mechanism": "PLAIN",
            "ssl_key_password": "key-pass-21",
            "schema_registry_url": "https://registry",
            "schema_registry_username": "ann",
            "schema_registry_password": "registry-pass-22",
            "producer.sasl.jaas.config": "jaas-entry-23",
        }
        worker_config(extra, login="user", password="sasl-login-24")

        text = "key-pass-21 registry-pass-22 jaas-entry-23 sasl-login-24"
        assert redact(text) == "*** *** *** ***"

    def test_a_private_key_is_masked_line_by_line(self, worker_config: Any, pem: tuple[str, str]) -> None:
        key = pem[1]
        worker_config({"ssl_private_key": key.replace("\n", " ")})

        assert redact(key.splitlines()[1]) == "***"

    def test_fields_of_secrets_are_password_fields(self) -> None:
        (declared,) = get_provider_info()["connection-types"]
        hidden = {
            name for name, field in declared["conn-fields"].items() if field["schema"].get("format") == "password"
        }

        assert hidden == {"ssl_private_key", "ssl_key_password", "schema_registry_password"}

    def test_airflow_hides_them_by_their_names(self) -> None:
        extra = {"ssl_private_key": "abc-1", "ssl_key_password": "abc-2"}

        assert redact(extra) == dict.fromkeys(extra, "***")


class TestErrors:
    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"host": None}, "names no brokers"),
            ({"extra": "[1]"}, "not a JSON object|does not exist"),  # Airflow 3.1 drops such a connection
            ({"extra": {"a": {"b": "s3cret-nested"}}}, "has keys in its extra that are not texts: a$"),
            ({"login": "me"}, "has a login, which security protocol PLAINTEXT does not use"),
            ({"login": "me", "extra": {"security_protocol": "SASL_SSL"}}, "has a login and no SASL mechanism"),
        ],
        ids=["no-servers", "no-object", "nested", "no-protocol", "no-mechanism"],
    )
    def test_name_the_connection_and_what_is_wrong(
        self, worker_config: Any, fields: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(ConfigError, match=f"Kafka connection `team` .*(?:{message})"):
            worker_config(**fields)
