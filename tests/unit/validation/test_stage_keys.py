"""Keys that a configuration's own values define: stages, groups of topics."""

from __future__ import annotations

import pytest

from airflow_kconnect.validation.connector import (
    inspect_connector,
    sink_config,
    source_config,
    validate_connector,
)
from tests.support.connectors.fake_plugins import SOURCE, errors_of, warnings_of

pytestmark = pytest.mark.usefixtures("fake_plugins")


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

    def test_settings_of_topics_are_not_unknown_keys(self) -> None:
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


class TestDefinitions:
    def test_groups_of_a_source(self) -> None:
        assert source_config().groups == [
            *("Common", "Transforms", "Predicates", "Error Handling", "Topic Creation"),
            *("Exactly Once Support", "offsets.topic", "kconnect", "hosted connectors", "Airflow"),
        ]

    def test_groups_of_a_sink(self) -> None:
        assert sink_config().groups == [
            *("Common", "Transforms", "Predicates", "Error Handling", "kconnect", "hosted connectors", "Airflow"),
        ]

    def test_required_keys(self) -> None:
        required = [key.name for key in source_config().keys.values() if key.required]
        assert required == ["name", "connector.class"]

    def test_converters_are_recommended(self) -> None:
        values = inspect_connector(SOURCE).values
        assert values["key.converter"].recommended_values == ["org.acme.FakeConverter", "org.acme.FakeHeaderConverter"]
