"""What a form is told about classes and keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from airflow_kconnect.control.classes import catalogue
from airflow_kconnect.control.classes.forms import connector_classes, with_form
from airflow_kconnect.plugins.registry import registry

WORKER = {"bootstrap.servers": "localhost:9092"}
JDBC = "io.confluent.connect.jdbc.JdbcSourceConnector"
SINK = "io.confluent.connect.jdbc.JdbcSinkConnector"


@pytest.fixture(autouse=True)
def installed_plugins() -> None:
    """Without those of files that other tests have named."""
    registry.cache_clear()


def entries(plugin: str, **config: str) -> dict[str, dict[str, Any]]:
    """The entries of a validation by key."""
    props = {"connector.class": plugin, **{key.replace("_", "."): value for key, value in config.items()}}
    inspection = catalogue.inspected(plugin, props, WORKER)
    answer = with_form(catalogue.described(inspection, props), inspection)
    return {entry["value"]["name"]: entry for entry in answer["configs"]}


def recommended(answer: Mapping[str, Any]) -> dict[str, list[str]]:
    return {name: entry["value"]["recommended_values"] for name, entry in answer.items()}


def test_enums_and_booleans_of_a_connector_recommend_their_values() -> None:
    answer = recommended(entries(JDBC))
    assert answer["mode"] == ["bulk", "incrementing", "timestamp", "timestamp+incrementing"]
    assert answer["numeric.mapping"] == ["none", "precision_only", "best_fit", "best_fit_eager_double"]
    assert answer["validate.non.null"] == ["true", "false"]
    assert answer["connection.url"] == []


def test_keys_of_connect_itself_recommend_what_connect_does_and_a_form_has_their_choices() -> None:
    answer = entries(JDBC)
    tolerance = answer["errors.tolerance"]
    assert (tolerance["value"]["recommended_values"], tolerance["form"]["choices"]) == ([], ["none", "all"])
    assert answer["tasks.max.enforce"]["form"]["choices"] == ["true", "false"]


def test_a_key_of_ours_recommends_its_choices() -> None:
    assert "all" in recommended(entries(JDBC))["kconnect.fail.on.warning"]


@pytest.mark.parametrize(
    ("mode", "shown"),
    [
        ({}, set()),
        ({"mode": "bulk"}, set()),
        ({"mode": "timestamp"}, {"timestamp.column.name"}),
        ({"mode": "incrementing"}, {"incrementing.column.name"}),
        ({"mode": "timestamp+incrementing"}, {"timestamp.column.name", "incrementing.column.name"}),
        ({"mode": "no mode"}, set()),
    ],
)
def test_columns_are_visible_with_the_modes_that_need_them(mode: dict[str, str], shown: set[str]) -> None:
    columns = {"timestamp.column.name", "incrementing.column.name"}
    answer = entries(JDBC, **mode)
    assert {key for key in columns if answer[key]["value"]["visible"]} == shown


def test_the_fields_of_a_primary_key_are_visible_with_a_mode_that_has_some() -> None:
    assert not entries(SINK)["pk.fields"]["value"]["visible"]
    assert entries(SINK, pk_mode="RECORD_KEY")["pk.fields"]["value"]["visible"]


def test_keys_are_ordered_by_use() -> None:
    answer = entries(JDBC)
    forms = {name: entry["form"] for name, entry in answer.items()}
    first = sorted((form["order"], name) for name, form in forms.items() if form["order"] is not None)
    assert [name for _, name in first][:5] == [
        "connection.url", "connection.user", "connection.password", "mode", "timestamp.column.name"
    ]  # fmt: skip
    assert forms["table.whitelist"]["main"]
    assert not forms["schema.pattern"]["main"]  # of high importance, and rarely set
    assert forms["connection.url"]["example"] == "jdbc:postgresql://host:5432/database"
    assert forms["poll.interval.ms"]["ignored"]


def test_classes_to_choose_from_have_a_sentence_each_and_the_usual_ones_come_first() -> None:
    classes = connector_classes(WORKER)
    assert all(each["summary"].endswith(".") for each in classes)
    assert [each["class"] for each in classes if each["recommended"]] == [SINK, JDBC]
    assert [each["class"] for each in classes][:2] == [SINK, JDBC]


def test_names_of_the_same_class_are_one_choice() -> None:
    (jdbc,) = (each for each in connector_classes(WORKER) if each["class"] == JDBC)
    assert jdbc["others"] == ["airflow_kconnect.connectors.jdbc.JdbcSourceConnector"]
