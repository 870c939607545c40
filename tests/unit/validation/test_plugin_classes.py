"""Classes that configurations name: full names, and versions that exist or do not."""

from __future__ import annotations

import pytest

from airflow_kconnect.validation.connector import inspect_connector, validate_connector
from airflow_kconnect.validation.plugin_classes import is_requirement, version_problem

SOURCE = {"name": "s", "connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"}
JSON = "org.apache.kafka.connect.json.JsonConverter"


@pytest.mark.parametrize("wanted", ["4.3.0", "4.3", "latest", "[4.0,5.0)", "[4.3.0]", "(,5)"])
def test_a_version_that_exists_is_accepted(wanted: str) -> None:
    assert validate_connector({**SOURCE, "connector.plugin.version": wanted}).warnings == []


@pytest.mark.parametrize("wanted", ["9.9", "[9.0,)", "abc", ""])
def test_a_version_that_does_not_exist_is_an_error_of_class_and_version(wanted: str) -> None:
    errors = inspect_connector({**SOURCE, "connector.plugin.version": wanted}).errors
    assert set(errors) == {"connector.class", "connector.plugin.version"}


def test_the_error_says_which_version_there_is() -> None:
    assert version_problem("a.B", "4.3.0", "9.9") == (
        "Plugin a.B not found that matches the version range [9.9,9.9], available versions: [4.3.0]"
    )


def test_a_class_without_version_is_every_version() -> None:
    assert version_problem("a.B", None, "9.9") is None


@pytest.mark.parametrize(
    "config",
    [
        {"key.converter": "Json", "key.converter.plugin.version": "9.9"},
        {"transforms": "a", "transforms.a.type": "Filter", "transforms.a.plugin.version": "9.9"},
        {"predicates": "a", "predicates.a.type": "RecordIsTombstone", "predicates.a.plugin.version": "9.9"},
    ],
)
def test_versions_of_stages_and_converters_are_looked_at(config: dict[str, str]) -> None:
    errors = inspect_connector({**SOURCE, **config}).errors
    assert {key for key in config if key.endswith("version")} < set(errors)


def test_a_variable_in_a_version_is_not_judged() -> None:
    assert inspect_connector({**SOURCE, "connector.plugin.version": "${env:VERSION}"}).errors == {}


def test_half_of_a_range_is_no_requirement() -> None:
    assert [is_requirement(text) for text in ("[4", "4", "[4,5)")] == [False, True, True]


def test_the_default_of_a_version_is_that_of_the_class() -> None:
    values = inspect_connector({**SOURCE, "key.converter": "Json"}).values
    assert values["connector.plugin.version"].value == values["key.converter.plugin.version"].value == "4.3.0"


def test_the_value_of_a_class_is_its_full_name() -> None:
    assert inspect_connector({**SOURCE, "key.converter": "Json"}).values["key.converter"].value == JSON


def test_the_value_of_a_class_that_does_not_exist_is_null() -> None:
    assert inspect_connector({**SOURCE, "key.converter": "Nope"}).values["key.converter"].value is None
