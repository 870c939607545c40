"""Registered connectors that name a group: one DAG for all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import CronDataIntervalTimetable

from airflow_kconnect import KafkaConnectorGroupOperator, KafkaSourceOperator, RegisteredConnector
from airflow_kconnect.operators.registered.dags import INVALID_TAG, registered_connector_dags
from airflow_kconnect.submit.dag_ids import dag_of
from tests.unit.operators.registered.test_dags import SINK, SOURCE, put


@pytest.fixture(autouse=True)
def _connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps({"conn_type": "kconnect", "host": "localhost:1"}))


def dags(folder: Path, **configs: dict[str, str]) -> dict[str, Any]:
    """The DAGs of connectors in the group `shop`, by connector."""
    for name, config in configs.items():
        put(folder, name, {"kconnect.group": "shop", **config})
    return registered_connector_dags(folder=folder, config_topic=False, group={"max_parallel": 8}, schedule="@daily")


def test_they_share_a_dag_with_a_group_operator(tmp_path: Path) -> None:
    found = dags(tmp_path, a=SOURCE, b=SINK)
    assert found["a"] is found["b"]
    (task,) = found["a"].tasks
    assert isinstance(task, KafkaConnectorGroupOperator)
    assert (found["a"].dag_id, task.task_id, task.max_parallel) == ("kconnect-group.shop", "run", 8)
    assert [each.name for each in task.connectors or () if isinstance(each, RegisteredConnector)] == ["a", "b"]


def test_others_keep_their_own(tmp_path: Path) -> None:
    put(tmp_path, "alone", SOURCE)
    found = dags(tmp_path, a=SOURCE)
    assert isinstance(found["alone"].tasks[0], KafkaSourceOperator)


def test_sources_are_outlets_and_topics_of_sinks_inlets(tmp_path: Path) -> None:
    (task,) = dags(tmp_path, a=SOURCE, b=SINK)["a"].tasks
    assert "kconnect/a" in [alias.name for alias in task.outlets]
    assert [asset.uri for asset in task.inlets] == ["kafka://kafka_default/lines"]


def test_a_run_may_be_for_some_of_them(tmp_path: Path) -> None:
    assert "connectors" in dags(tmp_path, a=SOURCE)["a"].params


def test_the_schedule_is_that_of_the_members_that_have_one(tmp_path: Path) -> None:
    dag = dags(tmp_path, a=SOURCE, b={**SINK, "kconnect.schedule": "@hourly"})["a"]
    assert (dag.schedule, INVALID_TAG in dag.tags) == (CronDataIntervalTimetable("0 * * * *", timezone="UTC"), False)


def test_one_that_differs_does_not_change_the_others_and_is_named(tmp_path: Path) -> None:
    hourly = {"kconnect.schedule": "@hourly"}
    dag = dags(tmp_path, a={**SOURCE, "kconnect.schedule": "5m"}, b={**SINK, **hourly}, c={**SINK, **hourly})["a"]
    assert dag.schedule == CronDataIntervalTimetable("0 * * * *", timezone="UTC")
    assert INVALID_TAG in dag.tags
    assert "kconnect.schedule: '5m' in a, '@hourly' in b, c" in (dag.doc_md or "")


def test_an_invalid_member_stays_in_the_group(tmp_path: Path) -> None:
    dag = dags(tmp_path, a=SOURCE, b={**SINK, "connector.class": "Unknown"})["b"]
    assert (dag.dag_id, INVALID_TAG in dag.tags) == ("kconnect-group.shop", True)


def test_a_group_that_is_no_valid_name_is_none(tmp_path: Path) -> None:
    assert dags(tmp_path, a={**SOURCE, "kconnect.group": "no name"})["a"].dag_id == "kconnect.a"


def test_no_connector_has_the_dag_of_a_group() -> None:
    assert dag_of("group.shop", {}) != dag_of("a", {"kconnect.group": "shop"}) == "kconnect-group.shop"
