"""Validation of whole connector configurations."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.validation.connector import (
    ValidatedConfig,
    validate_connector,
)
from tests.support.connectors.fake_plugins import SINK, SOURCE, FakeSource, errors_of, warnings_of, worker

pytestmark = pytest.mark.usefixtures("fake_plugins")


class TestValid:
    def test_alias_becomes_the_full_name(self) -> None:
        assert validate_connector(SOURCE).connector_class == "org.acme.FakeSourceConnector"

    @pytest.mark.parametrize(("config", "kind"), [(SOURCE, "source"), (SINK, "sink")])
    def test_kind_is_that_of_the_class(self, config: dict[str, str], kind: str) -> None:
        assert validate_connector(config, kind=kind).kind == kind

    def test_common_keys_are_parsed(self) -> None:
        assert validate_connector({**SOURCE, "tasks.max": "3"}).common["tasks.max"] == 3

    def test_values_become_trimmed_text(self) -> None:
        props = validate_connector({**SOURCE, "name": " s ", "tasks.max": 2, "errors.log.enable": True}).props
        assert (props["name"], props["tasks.max"], props["errors.log.enable"]) == ("s", "2", "true")

    def test_skipping_records_without_a_trace_is_warned_of(self) -> None:
        tolerant = {**SOURCE, "errors.tolerance": "all"}
        assert "are skipped, and lost; set `errors.deadletterqueue.topic.name`" in str(warnings_of(tolerant))
        assert warnings_of({**tolerant, "errors.deadletterqueue.topic.name": "dead"}) == []

    def test_ordinary_configuration_has_no_warnings(self) -> None:
        assert warnings_of(SOURCE) == []

    def test_repr_shows_no_secrets(self) -> None:
        assert "s3cret" not in repr(validate_connector({**SOURCE, "password": "s3cret"}))

    @pytest.mark.parametrize("key", ["kconnect.max.records", "kconnect.max.duration.ms", "kconnect.splits.max"])
    @pytest.mark.parametrize("config", [SOURCE, SINK])
    def test_bounds_of_a_run_are_not_set_by_default(self, config: dict[str, str], key: str) -> None:
        assert validate_connector(config).common[key] is None

    def test_converters_are_the_workers_by_default(self) -> None:
        common = validate_connector(SOURCE, worker=worker(key_converter="org.K")).common
        assert common["key.converter"] == "org.K"

    def test_dead_letters_and_tolerance_of_a_source(self) -> None:
        config = {**SOURCE, "errors.tolerance": "all", "errors.deadletterqueue.topic.name": "dead"}
        assert validate_connector(config).common["errors.deadletterqueue.topic.name"] == "dead"


class TestClass:
    def test_all_errors_come_together(self) -> None:
        config = {"connector.class": "Nope", "tasks.max": "0", "errors.tolerance": "some"}
        assert set(errors_of(config)) == {"name", "connector.class", "tasks.max", "errors.tolerance"}

    def test_error_names_the_connector(self) -> None:
        with pytest.raises(ConfigError, match="of connector s is invalid"):
            validate_connector({**SOURCE, "tasks.max": "0"})

    def test_unknown_class_lists_the_known(self) -> None:
        (message,) = errors_of({"name": "a", "connector.class": "os.path"})["connector.class"]
        assert message.endswith("are: org.acme.FakeSinkConnector, org.acme.FakeSourceConnector")

    def test_missing_class(self) -> None:
        assert errors_of({"name": "a"}) == {
            "connector.class": ['Missing required configuration "connector.class" which has no default value.']
        }

    def test_other_kind_names_the_operator(self) -> None:
        assert errors_of(SINK, kind="source") == {
            "connector.class": [
                "org.acme.FakeSinkConnector is a sink connector, not a source connector: run it with "
                'KafkaSinkOperator (kind="sink")'
            ]
        }


class TestKeys:
    def test_golden_errors_of_a_file_source(self) -> None:
        config = {"name": "n5", "connector.class": "FakeSource", "tasks.max": "abc"}
        assert errors_of(config) == {
            "tasks.max": [
                "Invalid value abc for configuration tasks.max: Not a number of type INT",
                "Invalid value null for configuration tasks.max: Value must be non-null",
            ],
            "topic": ['Missing required configuration "topic" which has no default value.'],
        }

    @pytest.mark.parametrize(
        ("key", "value", "message"),
        [
            ("name", " ", "String may not be empty"),
            ("tasks.max", "0", "Value must be at least 1"),
            ("errors.tolerance", "some", "String must be one of: none, all"),
            ("config.action.reload", "RESTART", "String must be one of: none, restart"),
            ("exactly.once.support", "x", "String must be one of (case insensitive): REQUESTED, REQUIRED"),
            ("kconnect.max.records", "0", "Value must be at least 1"),
            ("transforms", "a,a", "Duplicate alias provided."),
            ("batch.size", "x", "Not a number of type INT"),
        ],
    )
    def test_wrong_value(self, key: str, value: str, message: str) -> None:
        shown = "[a, a]" if value == "a,a" else value.strip()
        config = {**SOURCE, "transforms.a.type": "Mask$Value", "transforms.a.fields": "f", key: value}
        assert errors_of(config)[key][0] == f"Invalid value {shown} for configuration {key}: {message}"

    @pytest.mark.parametrize("key", ["file", "name", "connector.class", "some.unknown"])
    def test_null_is_refused_for_any_key(self, key: str) -> None:
        expected = ["Null value can not be supplied as the configuration value."]
        assert errors_of({**SOURCE, key: None})[key] == expected

    def test_nested_value_is_refused(self) -> None:
        errors = errors_of({**SOURCE, "file": {"a": 1}})
        assert errors == {"file": ["Expected a string, a number or a boolean, but found an object."]}

    def test_own_validation_adds_errors(self) -> None:
        config = {**SOURCE, "file": "tiny", "batch.size": "2000"}
        assert errors_of(config) == {"batch.size": ["too large for this file"]}

    def test_own_validation_may_stumble_over_a_wrong_value(self) -> None:
        assert set(errors_of({**SOURCE, "batch.size": "x"})) == {"batch.size"}

    def test_own_validation_may_not_fail_on_valid_values(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(props: Mapping[str, str]) -> dict[str, list[str]]:
            raise RuntimeError("oops")

        monkeypatch.setattr(FakeSource, "validate", fail)
        assert errors_of(SOURCE) == {"connector.class": ["An unexpected error occurred during validation: oops"]}


def test_validated_configuration_is_immutable() -> None:
    validated = ValidatedConfig("n", "c", "source", {}, {})
    with pytest.raises(AttributeError):
        validated.name = "other"  # type: ignore[misc]
