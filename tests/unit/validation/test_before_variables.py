"""What can be said of a configuration while its variables have no values."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.validation.before_variables import inspect_without_references
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support.variables import KAFKA, SINK, SOURCE


def errors_without_references(*arguments: Any) -> dict[str, list[str]]:
    return inspect_without_references(*arguments).errors


class TestWithoutReferences:
    @pytest.mark.parametrize(
        ("changes", "wrong"),
        [
            pytest.param({}, [], id="valid"),
            pytest.param({"tasks.max": "${env:N}"}, [], id="number by reference"),
            pytest.param({"tasks.max": "x"}, ["tasks.max"], id="no reference"),
            pytest.param({"tasks.max": "x", "file": "${env:F}"}, ["tasks.max"], id="another key by reference"),
            pytest.param({"tasks.max": "x", "topic": "${env:T}"}, ["tasks.max"], id="topic by reference"),
            pytest.param({"connector.class": "${env:C}", "tasks.max": "x"}, ["tasks.max"], id="class by reference"),
            pytest.param({"connector.class": "Nothing", "topic": "${env:T}"}, ["connector.class"], id="unknown class"),
            pytest.param({"transforms": "${env:T}"}, [], id="aliases by reference"),
            pytest.param({"topic.creation.groups": "${env:T}", "topic.creation.a.include": "x"}, [], id="groups"),
            pytest.param({"topic": None, "file": "${env:F}"}, ["topic"], id="null"),
            pytest.param({"files": "${env:F}"}, [], id="rule of the connector about a key by reference"),
        ],
    )
    def test_errors(self, changes: dict[str, Any], wrong: list[str]) -> None:
        assert list(errors_without_references({**SOURCE, **changes}, KAFKA, "source")) == wrong

    def test_rules_of_connect_still_count(self) -> None:
        config = {**SINK, "topics.regex": "o.*", "directory": "${env:D}"}
        assert sorted(errors_without_references(config, KAFKA, "sink")) == ["topics", "topics.regex"]
        assert list(errors_without_references(config, KAFKA, "source")) != []

    def test_kind_still_counts(self) -> None:
        assert list(errors_without_references({**SINK, "directory": "${env:D}"}, KAFKA, "source")) == [
            "connector.class"
        ]

    def test_the_worker_may_have_references(self) -> None:
        worker = {"bootstrap.servers": "${env:BROKERS}", "offset.storage.partitions": "${env:N}"}
        assert errors_without_references(SOURCE, worker) == {}

    def test_the_worker_without_reference_is_checked(self) -> None:
        with pytest.raises(ConfigError) as caught:
            errors_without_references(SOURCE, {"bootstrap.servers": "${env:B}", "offset.storage.partitions": "x"})
        assert list(caught.value.errors) == ["offset.storage.partitions"]

    def test_the_same_as_validation_where_there_are_none(self) -> None:
        config = {**SOURCE, "file": "", "tasks.max": "0", "errors.tolerance": "some"}
        with pytest.raises(ConfigError) as caught:
            validate_connector(config, worker=WorkerConfig.from_props(KAFKA))
        assert errors_without_references(config, KAFKA) == caught.value.errors

    def test_warnings_that_are_sure_stay(self) -> None:
        config = {**SOURCE, "value.converter": "${env:V}", "value.converter.schemas.enable": "false", "tpic": "x"}
        (warning,) = inspect_without_references(config, KAFKA).warnings
        assert warning.startswith("`tpic`")
