"""The Connectors page in Airflow's API server: its files and its data, for Airflow's users."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunRecord, RunState
from tests.support import unique
from tests.support.airflow.dags import add_dag
from tests.support.kafka import eventually
from tests.support.registered import Registered, WorkerTopics

Tokens = dict[str, dict[str, str]]

STORES = ("config", "offset", "status")
_DAG = """
from airflow.sdk import DAG
from airflow.providers.standard.operators.empty import EmptyOperator

with DAG("{dag_id}", schedule=None):
    EmptyOperator(task_id="write")
"""


def test_the_page_is_served_to_users(server: httpx.Client, tokens: Tokens) -> None:
    answer = server.get("/kconnect/ui/", headers=tokens["viewer"])
    assert (answer.status_code, "app.js" in answer.text) == (200, True)


def test_an_overview_has_the_connectors(name: str, server: httpx.Client, tokens: Tokens) -> None:
    answer = server.get("/kconnect/v1/connectors", headers=tokens["viewer"])
    assert name in [connector["name"] for connector in answer.json()["connectors"]]


@pytest.mark.parametrize(("role", "may"), [("viewer", False), ("admin", True)])
def test_a_user_is_told_what_is_allowed(role: str, may: bool, name: str, server: httpx.Client, tokens: Tokens) -> None:
    answer = server.get(f"/kconnect/v1/connectors/{name}", headers=tokens[role])
    assert (answer.status_code, answer.json()["may_write"], answer.json()["history"]) == (200, may, [])


@pytest.fixture
def of_a_dag(airflow_database: Path, connections: None, broker: EmbeddedBroker, tmp_path: Path) -> str:
    """A sink that a task of a DAG has run, and that is not registered."""
    sink, dag_id = unique("sink"), unique("shop")
    add_dag(tmp_path / "dags", _DAG.format(dag_id=dag_id))
    origin: dict[str, str | int] = {"dag": dag_id, "task": "write", "run": "manual__1", "map_index": -1, "try": 2}
    run = RunRecord("r", RunState.SUCCESS, 1_000, 2_000, {"read": 3}, complete=True, origin=origin)
    config = {"connector.class": "DirectorySink", "topics": "t"}
    runs = ConnectorRuns(config, "DirectorySink", "sink", ("t",), f"connect-{sink}", runs=(run,))
    topics = {f"{store}.storage.topic": f"connect-{store}{'' if store == 'status' else 's'}" for store in STORES}
    WorkerTopics(broker.bootstrap, topics).add(Registered(sink, config, runs=runs, registered=False))
    return sink


def test_a_connector_of_a_dag_is_shown_with_its_dag_and_log(
    of_a_dag: str, server: httpx.Client, tokens: Tokens
) -> None:
    def rows() -> dict[str, Any]:
        answer = server.get("/kconnect/v1/connectors", headers=tokens["viewer"])
        return {row["name"]: row for row in answer.json()["connectors"]}

    # The run is known by its record, the DAG by Airflow's database: either may come first.
    assert eventually(lambda: bool(rows().get(of_a_dag, {}).get("configured")), wanted=True)
    row = rows()[of_a_dag]
    (place,) = row["configured"]
    dag_id = row["dag_id"]
    assert (place["dag_id"], place["url"]) == (dag_id, f"/dags/{dag_id}/tasks/write")
    assert row["last_run"]["url"] == f"/dags/{dag_id}/runs/manual__1/tasks/write?try_number=2"
    assert (row["registered"], row["run_state"], row["schedule"]) == (False, "idle", "paused in Airflow")


def test_a_registered_connector_without_a_dag_says_so(name: str, server: httpx.Client, tokens: Tokens) -> None:
    found = server.get(f"/kconnect/v1/connectors/{name}", headers=tokens["viewer"]).json()
    assert (found["run_state"], found["configured"]) == (
        "no_dag",
        [{"kind": "registered", "dag_id": None, "url": None}],
    )
