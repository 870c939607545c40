"""Rules between the keys of a configuration, and warnings."""

from __future__ import annotations

import json

import pytest

from airflow_kconnect.connect.config import describe
from airflow_kconnect.validation.connector import (
    inspect_connector,
    validate_connector,
)
from tests.support.connectors.fake_plugins import SOURCE, FakeSource, errors_of, warnings_of, worker

pytestmark = pytest.mark.usefixtures("fake_plugins")


class TestExactlyOnce:
    @pytest.mark.parametrize("required", ["required", "REQUIRED"])
    def test_supported_passes(self, required: str) -> None:
        assert validate_connector({**SOURCE, "exactly.once.support": required})

    @pytest.mark.parametrize(
        ("file", "message"),
        [
            (None, "The connector does not support exactly-once semantics with the provided configuration."),
            ("unknown", "The connector does not implement the API required for preflight validation"),
            ("boom", "An unexpected error occurred during validation: disk on fire"),
            ("silent boom", "An unexpected error occurred during validation; please see the worker logs"),
        ],
    )
    def test_required_but_not_supported(self, file: str | None, message: str) -> None:
        config = {**SOURCE, "exactly.once.support": "required"}
        config = {key: value for key, value in {**config, "file": file}.items() if value}
        assert errors_of(config)["exactly.once.support"][0].startswith(message)

    @pytest.mark.parametrize("support", ["disabled", "preparing"])
    def test_worker_may_forbid_it(self, support: str) -> None:
        config = {**SOURCE, "exactly.once.support": "required"}
        assert errors_of(config, worker=worker(exactly_once_source_support=support)) == {
            "exactly.once.support": ["This worker does not have exactly-once source support enabled."]
        }

    def test_requested_asks_no_one(self) -> None:
        assert validate_connector({**SOURCE, "file": "boom"})

    def test_boundaries_of_the_connector_must_be_supported(self) -> None:
        assert errors_of({**SOURCE, "transaction.boundary": "connector"}) == {
            "transaction.boundary": [
                "The connector does not support connector-defined transaction boundaries with the given "
                "configuration. Please reconfigure it to use a different transaction boundary definition."
            ]
        }

    @pytest.mark.parametrize("boundary", ["poll", "interval", "INTERVAL"])
    def test_other_boundaries_pass(self, boundary: str) -> None:
        assert validate_connector({**SOURCE, "transaction.boundary": boundary})


class TestOverrides:
    @pytest.mark.parametrize(
        ("policy", "key", "allowed"),
        [
            ("All", "linger.ms", True),
            ("None", "linger.ms", False),
            ("Principal", "sasl.mechanism", True),
            ("Principal", "linger.ms", False),
            ("Allowlist", "acks", True),
            ("Allowlist", "linger.ms", False),
            ("NoneConnectorClientConfigOverridePolicy", "linger.ms", False),
            (
                "org.apache.kafka.connect.connector.policy.AllConnectorClientConfigOverridePolicy",
                "linger.ms",
                True,
            ),
        ],
    )
    @pytest.mark.parametrize("client", ["producer", "consumer", "admin"])
    def test_policy_decides(self, policy: str, key: str, allowed: bool, client: str) -> None:
        props = {
            "connector.client.config.override.policy": policy,
            "connector.client.config.override.allowlist": "acks",
        }
        config = {**SOURCE, f"{client}.override.{key}": "1"}
        found = inspect_connector(config, worker=worker(**props)).errors
        assert set(found) == (set() if allowed else {f"{client}.override.{key}"})

    def test_text_is_connects(self) -> None:
        props = {"connector.client.config.override.policy": "None"}
        assert errors_of({**SOURCE, "producer.override.acks": "1"}, worker=worker(**props)) == {
            "producer.override.acks": [
                "The 'None' policy does not allow 'acks' to be overridden in the connector configuration."
            ]
        }

    def test_refused_override_does_not_show_its_value(self) -> None:
        options = worker(**{"connector.client.config.override.policy": "None"})
        inspection = inspect_connector({**SOURCE, "admin.override.sasl.jaas.config": "s3cret"}, worker=options)
        assert "s3cret" not in json.dumps(describe(inspection.definition, inspection.values.values()))

    def test_transactional_id_is_overruled_with_a_warning(self) -> None:
        (warning,) = warnings_of({**SOURCE, "producer.override.transactional.id": "mine"})
        assert warning.startswith("`producer.override.transactional.id` is ignored")


class TestConverters:
    def test_unknown_class(self) -> None:
        assert errors_of({**SOURCE, "key.converter": "Nope"}) == {
            "key.converter": ["Invalid value Nope for configuration key.converter: Class Nope could not be found."]
        }

    def test_settings_are_reported_with_their_prefix(self) -> None:
        config = {**SOURCE, "value.converter": "Fake", "value.converter.schemas.enable": "perhaps"}
        assert errors_of(config) == {
            "value.converter.schemas.enable": [
                "Invalid value perhaps for configuration schemas.enable: Expected value to be either true or false"
            ]
        }

    def test_settings_without_class_have_no_effect(self) -> None:
        (warning,) = warnings_of({**SOURCE, "value.converter.schemas.enable": "perhaps"})
        assert warning.startswith("`value.converter.schemas.enable` has no effect")

    def test_header_converter_is_accepted(self) -> None:
        assert warnings_of({**SOURCE, "header.converter": "org.acme.FakeConverter"}) == []

    def test_unknown_header_converter_is_an_error(self) -> None:
        assert list(errors_of({**SOURCE, "header.converter": "Nope"})) == ["header.converter"]

    def test_converter_of_headers_converts_nothing_else(self) -> None:
        assert errors_of({**SOURCE, "value.converter": "FakeHeader"}) == {
            "value.converter": ["Invalid value FakeHeader for configuration value.converter: it converts only headers"]
        }


class TestStages:
    def test_keys_of_a_transformation_are_parsed(self) -> None:
        config = {**SOURCE, "transforms": "m", "transforms.m.type": "Mask$Value", "transforms.m.fields": "a, b"}
        assert validate_connector(config).common["transforms.m.fields"] == ["a", "b"]

    def test_definition_is_in_connects_order(self) -> None:
        config = {**SOURCE, "transforms": "m,n", "transforms.m.type": "org.acme.Mask$Value"}
        keys = [key for key in inspect_connector(config).definition.keys if key.startswith("transforms.")]
        assert keys == [
            *("transforms.m.type", "transforms.m.plugin.version", "transforms.m.fields"),
            *("transforms.m.negate", "transforms.m.predicate", "transforms.m.replacement"),
            *("transforms.n.type", "transforms.n.plugin.version"),
        ]

    def test_golden_errors_of_transformations(self) -> None:
        config = {**SOURCE, "transforms": "a,b", "transforms.a.type": "org.acme.Mask$Value"}
        assert errors_of(config) == {
            "transforms.a.fields": [
                'Missing required configuration "transforms.a.fields" which has no default value.',
                "Configuration 'fields' values must not be null.",
            ],
            "transforms.b.type": ['Missing required configuration "transforms.b.type" which has no default value.'],
        }

    @pytest.mark.parametrize(("stages", "what"), [("transforms", "x.Y"), ("predicates", "x.Y")])
    def test_unknown_class(self, stages: str, what: str) -> None:
        key = f"{stages}.a.type"
        assert errors_of({**SOURCE, stages: "a", key: what}) == {
            key: [f"Invalid value {what} for configuration {key}: Class {what} could not be found."]
        }

    def test_negate_needs_a_predicate(self) -> None:
        config = {**SOURCE, "transforms": "m", "transforms.m.type": "Mask$Value", "transforms.m.fields": "a"}
        assert errors_of({**config, "transforms.m.negate": "true"}) == {
            "transforms.m.type": [
                "Config 'transforms.m.negate' was provided but there is no config 'transforms.m.predicate' "
                "defining a predicate to be negated."
            ]
        }

    def test_predicate_must_be_listed(self) -> None:
        config = {**SOURCE, "transforms": "m", "transforms.m.type": "Mask$Value", "transforms.m.fields": "a"}
        assert errors_of({**config, "transforms.m.predicate": "p"}) == {
            "transforms.m.predicate": ["'p' is not in `predicates`, which has: nothing"]
        }

    def test_predicate_with_its_keys(self) -> None:
        config = {
            **SOURCE,
            "transforms": "m",
            "transforms.m.type": "Mask$Value",
            "transforms.m.fields": "a",
            "transforms.m.predicate": "p",
            "transforms.m.negate": "true",
            "predicates": "p",
            "predicates.p.type": "Matches",
            "predicates.p.pattern": "x.*",
        }
        assert validate_connector(config).common["transforms.m.negate"] is True

    def test_groups_of_the_stages_come_after_connects(self) -> None:
        config = {**SOURCE, "transforms": "m", "predicates": "p"}
        assert inspect_connector(config).definition.groups[-2:] == ["Transforms: m", "Predicates: p"]


class TestWarnings:
    def test_slip_of_the_pen_gets_a_hint(self) -> None:
        assert warnings_of({**SOURCE, "task.max": "2"}) == [
            "`task.max` is not a known key and may have no effect; did you mean `tasks.max`?"
        ]

    def test_keys_that_the_connector_reads_by_their_beginning_are_not_unknown_keys(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(FakeSource, "key_prefixes", ("driver.",))
        assert warnings_of({**SOURCE, "driver.timeout": "5"}) == []

    def test_a_slip_of_the_pen_among_them_gets_a_hint(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(FakeSource, "key_prefixes", ("task",))
        assert "did you mean `tasks.max`?" in warnings_of({**SOURCE, "task.max": "2"})[0]

    def test_client_settings_are_not_unknown_keys(self) -> None:
        assert warnings_of({**SOURCE, "producer.override.linger.ms": "5"}) == []

    @pytest.mark.parametrize(
        ("key", "value", "reason"),
        [
            ("config.action.reload", "none", "each run reads secrets afresh"),
            ("tasks.max.enforce", "false", "more tasks than `tasks.max` are always an error"),
        ],
    )
    def test_a_key_without_effect_is_named_with_the_reason(self, key: str, value: str, reason: str) -> None:
        (warning,) = warnings_of({**SOURCE, key: value})
        assert warning.startswith(f"`{key}` has no effect: {reason}")

    @pytest.mark.parametrize(
        ("key", "value"), [("errors.retry.timeout", "0"), ("config.action.reload", "restart"), ("tasks.max", "1")]
    )
    def test_a_value_that_asks_for_the_default_is_not_a_warning(self, key: str, value: str) -> None:
        assert warnings_of({**SOURCE, key: value}) == []

    @pytest.mark.parametrize(("key", "value"), [("errors.retry.timeout", "60000"), ("errors.retry.delay.max.ms", "5")])
    def test_retries_are_of_python_tasks_only(self, key: str, value: str) -> None:
        (warning,) = warnings_of({**SOURCE, key: value})
        assert warning.startswith(f"`{key}` has no effect with this class: converters and transformations here never")

    def test_a_key_without_effect_says_so_in_connects_answer_too(self) -> None:
        inspection = inspect_connector(SOURCE)
        described = describe(inspection.definition, inspection.values.values())["configs"]
        (text,) = [c["definition"]["documentation"] for c in described if c["value"]["name"] == "tasks.max.enforce"]
        assert "Without effect here: " in text

    @pytest.mark.parametrize(("boundary", "count"), [("poll", 1), ("interval", 0), ("INTERVAL", 0)])
    def test_only_transactions_by_time_are_as_in_connect(self, boundary: str, count: int) -> None:
        assert len(warnings_of({**SOURCE, "transaction.boundary": boundary})) == count
