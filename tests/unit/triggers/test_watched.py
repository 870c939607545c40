"""What triggers are given, and what they must not be given."""

from __future__ import annotations

import json
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.triggers.watched import WatchedConnector

SINK = {"name": "orders", "topics": "orders", "connector.class": "C", "connection.password": "db-secret-1"}


def _stored(config: dict[str, Any], worker: dict[str, Any] | None = None) -> str:
    return json.dumps(WatchedConnector.of({**SINK, **config}, worker, "my_kafka").stored())


def test_keys_of_the_connector_that_do_not_matter_are_left_out() -> None:
    assert "db-secret-1" not in _stored({})


def test_keys_of_the_worker_that_do_not_matter_are_left_out() -> None:
    worker = {"producer.sasl.password": "producer-secret-1", "value.converter.basic.auth.user.info": "u:registry-1"}

    assert WatchedConnector.of(SINK, worker, None).stored()["worker_config"] == {}


def test_a_secret_by_reference_may_be_stored() -> None:
    assert "${airflow:x:password}" in _stored({"consumer.override.sasl.password": "${airflow:x:password}"})


def test_all_secrets_are_named_at_once() -> None:
    config = {"admin.override.sasl.jaas.config": "literal-1"}
    with pytest.raises(ConfigError) as caught:
        _stored(config, {"sasl.password": "literal-2"})
    assert sorted(caught.value.errors) == ["admin.override.sasl.jaas.config", "sasl.password"]


def test_the_error_names_cures_and_no_secret() -> None:
    with pytest.raises(ConfigError) as caught:
        _stored({}, {"sasl.password": "literal-2"})
    assert "put it into the Kafka connection" in str(caught.value)
    assert "literal-2" not in str(caught.value)


def test_its_repr_shows_no_values() -> None:
    config = {**SINK, "consumer.override.sasl.password": "literal-3"}

    assert "literal-3" not in repr(WatchedConnector.of(config, None, "my_kafka"))


def test_what_restricts_connectors_is_kept() -> None:
    worker = {
        "connector.client.config.override.policy": "None",
        "connector.client.config.override.allowlist": "linger.ms",
        "config.providers.airflow.param.allowlist.pattern": "kafka_.*",
    }
    assert WatchedConnector.of(SINK, worker, None).stored()["worker_config"] == worker
