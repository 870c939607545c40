"""Validation of whole connector configurations, with small connectors of the tests' own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect import plugins
from airflow_kconnect.connect.config import ConfigDef, Importance, NonEmptyString, Type, ValidList, describe
from airflow_kconnect.connect.connector import Connector, ExactlyOnceSupport, SourceConnector
from airflow_kconnect.connect.connector_config import (
    ValidatedConfig,
    converter_settings,
    inspect_connector,
    load_connector_file,
    sink_config,
    source_config,
    validate_connector,
)
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.worker_config import WorkerConfig


class FakeSource(SourceConnector):
    @classmethod
    def config(cls) -> ConfigDef:
        return (
            ConfigDef()
            .define("file", Type.STRING, None, Importance.HIGH)
            .define("topic", Type.STRING, importance=Importance.HIGH, validator=NonEmptyString())
            .define("batch.size", Type.INT, 2000, Importance.LOW)
            .define("password", Type.PASSWORD, None)
        )

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        if int(props.get("batch.size", "1")) > 1000 and props.get("file") == "tiny":
            return {"batch.size": ["too large for this file"]}
        return {}

    @classmethod
    def exactly_once_support(cls, props: Mapping[str, str]) -> ExactlyOnceSupport | None:
        match props.get("file"):
            case "boom":
                raise RuntimeError("disk on fire")
            case "silent boom":
                raise RuntimeError
            case "unknown":
                return None
            case None:
                return ExactlyOnceSupport.UNSUPPORTED
        return ExactlyOnceSupport.SUPPORTED


class FakeSink(Connector):
    kind = "sink"

    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef().define("file", Type.STRING, None)


class FakeConverter:
    def __init__(self, config: Mapping[str, str], *, is_key: bool) -> None:
        self.config_values = config

    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef().define("schemas.enable", Type.BOOLEAN, True)


class FakeHeaderConverter(FakeConverter):
    for_headers_only = True


class FakeTransform:
    @classmethod
    def validate(cls, config: Mapping[str, str]) -> dict[str, list[str]]:
        return {}

    @classmethod
    def config(cls) -> ConfigDef:
        return (
            ConfigDef()
            .define("replacement", Type.STRING, None, Importance.LOW)
            .define("fields", Type.LIST, importance=Importance.HIGH, validator=ValidList())
            .define("predicate", Type.INT, 1)
        )


class FakePredicate:
    @classmethod
    def validate(cls, config: Mapping[str, str]) -> dict[str, list[str]]:
        return {}

    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef().define("pattern", Type.STRING)


@dataclass
class Entry:
    name: str
    target: Any
    value: str = "x:Y"

    def load(self) -> Any:
        return self.target


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = plugins.PluginRegistry(
        {
            plugins.CONNECTORS: [
                Entry("org.acme.FakeSourceConnector", FakeSource),
                Entry("org.acme.FakeSinkConnector", FakeSink),
            ],
            plugins.CONVERTERS: [
                Entry("org.acme.FakeConverter", FakeConverter),
                Entry("org.acme.FakeHeaderConverter", FakeHeaderConverter),
            ],
            plugins.TRANSFORMS: [Entry("org.acme.Mask$Value", FakeTransform)],
            plugins.PREDICATES: [Entry("org.acme.Matches", FakePredicate)],
        }
    )
    monkeypatch.setattr(plugins, "registry", lambda: registry)


SOURCE = {"name": "s", "connector.class": "FakeSource", "topic": "t", "file": "in.txt"}
SINK = {"name": "k", "connector.class": "FakeSink", "topics": "t1,t2"}


def worker(**props: str) -> WorkerConfig:
    named = {key.replace("_", "."): value for key, value in props.items()}
    return WorkerConfig.from_props({"bootstrap.servers": "localhost:9092", **named})


def errors_of(config: Mapping[str, Any], **options: Any) -> dict[str, list[str]]:
    with pytest.raises(ConfigError) as caught:
        validate_connector(config, **options)
    return caught.value.errors


def warnings_of(config: Mapping[str, Any]) -> list[str]:
    return validate_connector(config).warnings


class TestValid:
    def test_alias_becomes_the_full_name(self) -> None:
        assert validate_connector(SOURCE).connector_class == "org.acme.FakeSourceConnector"

    @pytest.mark.parametrize(("config", "kind"), [(SOURCE, "source"), (SINK, "sink")])
    def test_kind_is_that_of_the_class(self, config: dict[str, str], kind: str) -> None:
        assert validate_connector(config, kind=kind).kind == kind

    def test_own_keys_are_parsed(self) -> None:
        assert validate_connector({**SOURCE, "batch.size": 5}).connector["batch.size"] == 5

    def test_common_keys_are_parsed(self) -> None:
        assert validate_connector({**SOURCE, "tasks.max": "3"}).common["tasks.max"] == 3

    def test_values_become_trimmed_text(self) -> None:
        props = validate_connector({**SOURCE, "name": " s ", "tasks.max": 2, "errors.log.enable": True}).props
        assert (props["name"], props["tasks.max"], props["errors.log.enable"]) == ("s", "2", "true")

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


class TestTopic:
    @pytest.mark.parametrize(
        "topic",
        [
            *(".", "..", "a b", "a/b", "é", "x" * 250),
            *("connect-offsets", "connect-configs", "connect-status", "__consumer_offsets", "__transaction_state"),
        ],
    )
    @pytest.mark.parametrize("key", ["topic", "errors.deadletterqueue.topic.name"])
    def test_illegal_or_internal_topic_is_refused(self, key: str, topic: str) -> None:
        assert set(errors_of({**SOURCE, key: topic})) == {key}

    @pytest.mark.parametrize("topic", ["x" * 249, "A.b_c-9", "..."])
    def test_legal_topic(self, topic: str) -> None:
        assert validate_connector({**SOURCE, "topic": topic}).props["topic"] == topic

    def test_internal_topics_are_those_of_the_worker(self) -> None:
        options = {"worker": worker(offset_storage_topic="mine")}
        assert set(errors_of({**SOURCE, "topic": "mine"}, **options)) == {"topic"}

    def test_offsets_topic_of_the_connector_is_internal(self) -> None:
        assert set(errors_of({**SOURCE, "topic": "o", "offsets.storage.topic": "o"})) == {"topic"}

    def test_empty_topic_is_the_connectors_error(self) -> None:
        assert errors_of({**SOURCE, "topic": ""}) == {
            "topic": ["Invalid value  for configuration topic: String must be non-empty"]
        }


class TestSink:
    @pytest.mark.parametrize(
        ("topics", "message"),
        [
            (
                {"topics": "t1", "topics.regex": "a.*"},
                "topics and topics.regex are mutually exclusive options, but both are set.",
            ),
            ({}, "Must configure one of topics or topics.regex"),
            ({"topics": " ", "topics.regex": ""}, "Must configure one of topics or topics.regex"),
        ],
    )
    def test_topics_and_regex_exclude_each_other(self, topics: dict[str, str], message: str) -> None:
        config = {"name": "k", "connector.class": "FakeSink", **topics}
        assert errors_of(config) == {"topics": [message], "topics.regex": [message]}

    def test_dead_letters_may_not_be_read(self) -> None:
        assert errors_of({**SINK, "errors.deadletterqueue.topic.name": "t1"}) == {
            "errors.deadletterqueue.topic.name": [
                "The DLQ topic 't1' may not be included in the list of topics ('topics=[t1, t2]') consumed by the "
                "connector"
            ]
        }

    def test_dead_letters_may_not_match(self) -> None:
        config = {"name": "k", "connector.class": "FakeSink", "topics.regex": "t.*"}
        assert errors_of({**config, "errors.deadletterqueue.topic.name": "t1"}) == {
            "errors.deadletterqueue.topic.name": [
                "The DLQ topic 't1' may not be matched by the regex for the topics ('topics.regex=t.*') consumed by "
                "the connector"
            ]
        }

    def test_regex_matches_whole_names(self) -> None:
        config = {"name": "k", "connector.class": "FakeSink", "topics.regex": "t"}
        assert validate_connector({**config, "errors.deadletterqueue.topic.name": "t1"})

    def test_wrong_regex(self) -> None:
        config = {"name": "k", "connector.class": "FakeSink", "topics.regex": "t("}
        assert set(errors_of({**config, "errors.deadletterqueue.topic.name": "t1"})) == {"topics.regex"}

    def test_group_of_the_sink_may_not_be_the_workers(self) -> None:
        assert errors_of(SINK, worker=worker(group_id="connect-k")) == {
            "name": ["Consumer group for sink connector named k conflicts with Connect worker group connect-k"]
        }

    def test_overridden_group_may_not_be_the_workers(self) -> None:
        assert errors_of({**SINK, "consumer.override.group.id": "kconnect"}) == {
            "consumer.override.group.id": ["Consumer group kconnect conflicts with Connect worker group kconnect"]
        }

    def test_overridden_group_avoids_the_conflict(self) -> None:
        config = {**SINK, "consumer.override.group.id": "mine"}
        assert validate_connector(config, worker=worker(group_id="connect-k"))


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

    def test_requested_asks_nobody(self) -> None:
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
            ("Principal", "sasl.jaas.config", True),
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

    def test_chosen_converter_has_its_own_settings(self) -> None:
        config = {**SOURCE, "key.converter": "Fake", "key.converter.schemas.enable": "false"}
        validated = validate_connector(config)
        expected = ("Fake", {"schemas.enable": "false", "converter.type": "key"})
        assert converter_settings(validated, worker(), "key") == expected

    def test_workers_converter_has_the_workers_settings(self) -> None:
        validated = validate_connector({**SOURCE, "key.converter.schemas.enable": "true"})
        options = worker(**{"key.converter": "org.K", "key.converter.schemas.enable": "false"})
        expected = ("org.K", {"schemas.enable": "false", "converter.type": "key"})
        assert converter_settings(validated, options, "key") == expected


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
            "transforms.m.negate": [
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


class TestTopicCreation:
    config = {
        **SOURCE,
        "topic.creation.default.partitions": "4",
        "topic.creation.default.replication.factor": "1",
    }

    def test_numbers_of_the_default_group_are_required(self) -> None:
        assert set(errors_of({**SOURCE, "topic.creation.default.cleanup.policy": "compact"})) == {
            "topic.creation.default.partitions",
            "topic.creation.default.replication.factor",
        }

    def test_other_groups_inherit_the_numbers(self) -> None:
        common = validate_connector({**self.config, "topic.creation.groups": "g"}).common
        assert common["topic.creation.g.partitions"] == 4

    def test_settings_of_topics_are_no_unknown_keys(self) -> None:
        assert warnings_of({**self.config, "topic.creation.default.retention.ms": "1"}) == []

    def test_group_that_is_not_listed_is_a_warning(self) -> None:
        assert len(warnings_of({**self.config, "topic.creation.g.partitions": "1"})) == 1

    @pytest.mark.parametrize(
        ("key", "value", "message"),
        [
            ("default.partitions", "0", "Number of partitions must be positive, or -1"),
            ("default.replication.factor", "-2", "Replication factor must be positive and not larger"),
            ("g.include", "a(", "Syntax error in regular expression"),
        ],
    )
    def test_wrong_value(self, key: str, value: str, message: str) -> None:
        errors = errors_of({**self.config, "topic.creation.groups": "g", f"topic.creation.{key}": value})
        assert message in errors[f"topic.creation.{key}"][0]


class TestWarnings:
    def test_slip_of_the_pen_gets_a_hint(self) -> None:
        assert warnings_of({**SOURCE, "task.max": "2"}) == [
            "`task.max` is not a known key and may have no effect; did you mean `tasks.max`?"
        ]

    def test_keys_that_the_connector_reads_by_their_beginning_are_no_unknown_keys(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(FakeSource, "key_prefixes", ("driver.",))
        assert warnings_of({**SOURCE, "driver.timeout": "5"}) == []

    def test_a_slip_of_the_pen_among_them_gets_a_hint(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(FakeSource, "key_prefixes", ("task",))
        assert "did you mean `tasks.max`?" in warnings_of({**SOURCE, "task.max": "2"})[0]

    def test_client_settings_are_no_unknown_keys(self) -> None:
        assert warnings_of({**SOURCE, "producer.override.linger.ms": "5"}) == []

    def test_plugin_version_is_ignored(self) -> None:
        assert warnings_of({**SOURCE, "connector.plugin.version": "1"}) == [
            "`connector.plugin.version` is ignored: the installed version runs"
        ]


class TestDefinitions:
    def test_groups_of_a_source(self) -> None:
        assert source_config().groups == [
            *("Common", "Transforms", "Predicates", "Error Handling", "Topic Creation"),
            *("Exactly Once Support", "offsets.topic", "kconnect"),
        ]

    def test_groups_of_a_sink(self) -> None:
        assert sink_config().groups == [
            *("Common", "Transforms", "Predicates", "Error Handling", "kconnect"),
        ]

    def test_required_keys(self) -> None:
        required = [key.name for key in source_config().keys.values() if key.required]
        assert required == ["name", "connector.class"]

    def test_converters_are_recommended(self) -> None:
        values = inspect_connector(SOURCE).values
        assert values["key.converter"].recommended_values == ["org.acme.FakeConverter", "org.acme.FakeHeaderConverter"]


class TestLoadConnectorFile:
    expected = {"name": "s", "tasks.max": "2"}

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("c.json", '{"name": "s", "config": {"tasks.max": 2}}'),
            ("c.json", '{"name": "s", "config": {"name": "s", "tasks.max": "2"}, "initial_state": "RUNNING"}'),
            ("c.json", '{"name": "s", "tasks.max": "2"}'),
            ("c.conf", ' \n{"name": "s", "tasks.max": "2"}'),
            ("c.properties", "name=s\ntasks.max = 2\n"),
            ("c", "name: s\n# comment\ntasks.max 2"),
        ],
    )
    def test_forms(self, tmp_path: Path, name: str, text: str) -> None:
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert load_connector_file(tmp_path / name) == self.expected

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("c.json", b"\xef\xbb\xbf{}", "byte order mark"),
            ("c.json", b'{"a": 1', "is not JSON: .* at line 1, column"),
            ("c.json", b"", "is not JSON"),
            ("c.json", b"[1]", "holds no JSON object"),
            ("c.json", b'"text"', "holds no JSON object"),
            ("c.json", b"[" * 100_000, "nested too deeply"),
            ("c.json", b'{"a": "1", "a": "2"}', "has the key `a` twice"),
            ("c.json", b'{"name": "s", "config": {"a": "1", "a": "2"}}', "has the key `a` twice"),
            ("c.json", b'{"name": "s", "config": {"name": "t"}}', "has one `name` outside and another"),
            ("c.json", b'{"name": "s", "config": {}, "x": 1}', "unknown members beside `config`: x"),
            ("c.json", b'{"config": {}, "initial_state": "STOPPED"}', "another `initial_state`"),
            ("c.json", b'{"a": null}', "`a`: Null value can not be supplied"),
            ("c.json", b'{"a": {"b": 1}}', "`a`: Expected a string"),
            ("c.properties", b"a=1\na=2", "has the key `a` twice"),
            ("c.properties", b"a=\\u12", "line 1: malformed"),
            ("c.properties", b"a=\xff", "is not UTF-8 text"),
        ],
    )
    def test_wrong_files(self, tmp_path: Path, name: str, content: bytes, message: str) -> None:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ConfigError, match=message):
            load_connector_file(tmp_path / name)

    def test_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="the file does not exist"):
            load_connector_file(str(tmp_path / "none.json"))

    def test_directory(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="is a directory"):
            load_connector_file(tmp_path)

    def test_errors_do_not_show_values(self, tmp_path: Path) -> None:
        path = tmp_path / "c.json"
        path.write_text('{"password": "s3cret"', encoding="utf-8")
        with pytest.raises(ConfigError) as caught:
            load_connector_file(path)
        assert "s3cret" not in str(caught.value)


def test_validated_configuration_is_immutable() -> None:
    validated = ValidatedConfig("n", "c", "source", {}, {}, {})
    with pytest.raises(AttributeError):
        validated.name = "other"  # type: ignore[misc]
