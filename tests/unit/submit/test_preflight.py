"""Configurations as people write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.submit.preflight import check_configuration, connector_config
from airflow_kconnect.variables.providers import NEEDS_AIRFLOW

FLAT = {"name": "orders", "connector.class": "FileStreamSource", "topic": "t", "file": "/data/in"}
NESTED = {"name": "orders", "config": {key: value for key, value in FLAT.items() if key != "name"}}


class TestConnectorConfig:
    @pytest.mark.parametrize("connector", [FLAT, NESTED, json.dumps(NESTED), " " + json.dumps(FLAT)])
    def test_all_forms_mean_the_same(self, connector: Any) -> None:
        assert connector_config(connector) == FLAT

    @pytest.mark.parametrize("absolute", [True, False], ids=["absolute", "relative"])
    def test_a_file_is_read(self, tmp_path: Path, absolute: bool) -> None:
        file = tmp_path / "orders.json"
        file.write_text(json.dumps(NESTED))

        assert connector_config(file if absolute else "orders.json", tmp_path) == FLAT

    def test_the_configuration_of_the_caller_is_not_changed(self) -> None:
        before = json.dumps(NESTED)
        connector_config(NESTED)["x"] = "y"

        assert json.dumps(NESTED) == before

    @pytest.mark.parametrize(
        ("connector", "message"),
        [
            ({**NESTED, "config": {"name": "other"}}, "one `name` outside and another inside"),
            ("{not json", "is not JSON"),
            ("", "expected a dict, a JSON text or the path"),
            (7, "expected a dict, a JSON text or the path"),
            (None, "expected a dict, a JSON text or the path"),
            ("/no/such/file.json", "does not exist"),
        ],
        ids=["two-names", "not-json", "empty", "number", "none", "no-file"],
    )
    def test_anything_else_is_refused(self, connector: Any, message: str) -> None:
        with pytest.raises(ConfigError, match=message):
            connector_config(connector)


class TestCheckConfiguration:
    WORKER = {"bootstrap.servers": "broker:9092"}

    def test_a_valid_one_passes(self) -> None:
        assert check_configuration(FLAT, self.WORKER, "source") == []

    def test_all_errors_are_found(self) -> None:
        with pytest.raises(ConfigError) as caught:
            check_configuration({**FLAT, "tasks.max": "x", "topic": None}, self.WORKER, "source")

        assert {"tasks.max", "topic"} <= set(caught.value.errors)

    def test_a_source_is_not_a_sink(self) -> None:
        with pytest.raises(ConfigError):
            check_configuration(FLAT, self.WORKER, "sink")

    def test_a_wrong_worker_is_refused(self) -> None:
        with pytest.raises(ConfigError, match=r"bootstrap\.servers"):
            check_configuration(FLAT, {"bootstrap.servers": "broker"}, "source")

    def test_overrides_that_no_client_gets_are_found_with_all_other_errors(self) -> None:
        overrides = {
            "producer.override.ssl.providers": "/x.so",
            "producer.override.sasl.oauthbearer.assertion.file": "/etc/passwd",
            "producer.override.test.mock.num.brokers": "1",
            "producer.override.error_cb": "f",
            "producer.override.debug": "all",
            "producer.override.sasl.kerberos.principal": "x; id",
            "producer.override.ssl.truststore.location": "/t.store",
        }
        kind = {"producer.override.ssl.truststore.type": "BCFKS"}
        worker = {**self.WORKER, "connector.client.config.override.policy": "All"}
        with pytest.raises(ConfigError) as caught:
            check_configuration({**FLAT, **overrides, **kind, "tasks.max": "0"}, worker, "source")

        assert set(caught.value.errors) == {*overrides, "tasks.max"}

    def test_keys_of_the_worker_that_no_client_gets_are_found(self) -> None:
        keys = {"ssl.keystore.location": "/k.store", "producer.plugin.library.paths": "/x.so"}
        with pytest.raises(ConfigError) as caught:
            check_configuration(FLAT, {**self.WORKER, **keys, "ssl.keystore.type": "BCFKS"}, "source")

        assert set(caught.value.errors) == set(keys)

    def test_a_store_whose_type_only_the_job_knows_is_left_to_it(self) -> None:
        store = {"ssl.truststore.type": "${env:TYPE}", "ssl.truststore.location": "/store"}
        own = {f"producer.override.{key}": text for key, text in store.items()}
        worker = {**self.WORKER, "connector.client.config.override.policy": "All", **store}
        assert check_configuration({**FLAT, **own}, worker, "source") == []

    def test_references_are_left_to_the_job(self) -> None:
        assert check_configuration({**FLAT, "tasks.max": "${env:TASKS}"}, self.WORKER, "source") == []

    def test_variables_of_airflow_are_left_to_the_job_where_a_task_has_looked_them_up(self) -> None:
        variables = {"airflow-var::t": "3"}
        assert check_configuration({**FLAT, "tasks.max": "${airflow-var:t}"}, self.WORKER, "source", variables) == []

    def test_variables_of_airflow_are_errors_without_airflow(self) -> None:
        config = {**FLAT, "file": "${airflow-var:a}${airflow-var:b}"}
        with pytest.raises(ConfigError) as caught:
            check_configuration(config, {**self.WORKER, "group.id": "${airflow:c:login}"}, "source")

        assert caught.value.errors == {
            "file": [f"variable ${{airflow-var:{name}}} {NEEDS_AIRFLOW}" for name in "ab"],
            "group.id": [f"variable ${{airflow:c:login}} {NEEDS_AIRFLOW}"],
        }

    def test_variables_of_airflow_are_reported_with_all_other_errors(self) -> None:
        with pytest.raises(ConfigError) as caught:
            check_configuration({**FLAT, "file": "${airflow-var:a}", "tasks.max": "x"}, self.WORKER, "source")

        assert set(caught.value.errors) == {"file", "tasks.max"}
