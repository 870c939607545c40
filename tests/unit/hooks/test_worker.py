"""Configurations of a task: what is put together, and what becomes of variables."""

from __future__ import annotations

from typing import Any

import pytest
from airflow.providers.common.compat.sdk import redact

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.worker import configurations
from airflow_kconnect.submit.worker_defaults import WORKER_DEFAULTS

KAFKA = {"bootstrap.servers": "a:9092"}


class TestConfigurations:
    def test_worker_keys_win_over_those_of_the_connection(self, connection: Any) -> None:
        connection("team", conn_type="kconnect", host="a:9092", extra={"group_id": "connection"})

        worker = configurations({}, {"group.id": "mine"}, "team").worker

        assert worker == {**WORKER_DEFAULTS, **KAFKA, "group.id": "mine"}

    def test_no_connection_is_needed(self) -> None:
        assert configurations({}, KAFKA, None).worker == WORKER_DEFAULTS | KAFKA

    def test_literal_secrets_are_masked(self) -> None:
        configurations({"connection.password": "literal-51"}, {**KAFKA, "sasl.password": "literal-52"}, None)

        assert redact("literal-51 literal-52") == "*** ***"

    def test_what_was_written_stays_as_it_was(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AIRFLOW_VAR_TEAM", "sales")
        config = {"file": "/${airflow-var:team}", "topic": "${env:HOME}"}

        written = configurations(config, KAFKA, None)

        assert written.config == config
        assert written.variables == {"airflow-var::team": "sales"}

    def test_its_repr_shows_no_values(self) -> None:
        assert "a:9092" not in repr(configurations({}, KAFKA, None))


class TestResolved:
    def test_has_the_values_of_all_variables(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AIRFLOW_VAR_TEAM", "sales")
        monkeypatch.setenv("KC_GROUP", "connect-cluster")
        written = configurations({"file": "/${airflow-var:team}"}, {**KAFKA, "group.id": "${env:KC_GROUP}"}, None)

        assert written.resolved() == ({"file": "/sales"}, {**WORKER_DEFAULTS, **KAFKA, "group.id": "connect-cluster"})

    def test_the_values_are_masked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KC_TOKEN", "from-environment-53")
        configurations({"token": "${env:KC_TOKEN}"}, KAFKA, None).resolved()

        assert redact("from-environment-53") == "***"

    def test_a_variable_without_value_is_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("KC_MISSING", raising=False)

        with pytest.raises(ConfigError, match=r"\$\{env:KC_MISSING\}"):
            configurations({"a": "${env:KC_MISSING}"}, KAFKA, None).resolved()
