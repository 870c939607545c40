"""Offsets belong to a group: another connector's cannot be changed by naming its group."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunRecord, RunState
from tests.support.control import Only, api_client
from tests.support.registered import Registered

GROUP = "consumer.override.group.id"
SINK = {"connector.class": "DirectorySink", "topics": "t", "directory": "/lake"}


@pytest.fixture
def limited(plane: ControlPlane) -> TestClient:
    """The API for one who may change the connector `a` alone, with sinks `a` and `b`."""
    for name in ("a", "b"):
        plane.put_config(name, SINK)
    return api_client(plane, Only(reads=["a"], writes=["a"]))


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_configuration_cannot_take_the_group_of_anothers_connector(method: str, limited: TestClient) -> None:
    answer = limited.request(method, "/connectors/a/config", json={**SINK, GROUP: "connect-b"})
    assert (answer.status_code, answer.json()["message"]) == (403, "b is not yours")


def test_nor_can_a_new_connector(limited: TestClient, plane: ControlPlane) -> None:
    plane.delete("a")
    answer = limited.post("/connectors", json={"name": "a", "config": {**SINK, GROUP: "connect-b"}})
    assert answer.status_code == 403


def test_nor_can_it_join_the_dag_of_anothers_group(limited: TestClient) -> None:
    answer = limited.put("/connectors/a/config", json={**SINK, "kconnect.group": "shop"})
    assert (answer.status_code, answer.json()["message"].endswith("may not edit the DAG of the group shop")) == (
        403,
        True,
    )


@pytest.mark.parametrize("group", ["connect-b", "an-application"])
def test_offsets_of_such_a_group_are_not_changed(group: str, limited: TestClient, plane: ControlPlane) -> None:
    plane.put_config("a", {**SINK, GROUP: group})
    limited.put("/connectors/a/stop")
    assert limited.request("PATCH", "/connectors/a/offsets", json={"offsets": []}).status_code == 403
    assert limited.delete("/connectors/a/offsets").status_code == 403


def test_its_own_offsets_are(limited: TestClient) -> None:
    limited.put("/connectors/a/stop")
    assert limited.delete("/connectors/a/offsets").status_code == 200


def test_a_connector_that_runs_from_anothers_dag_cannot_be_registered(
    limited: TestClient, plane: ControlPlane, add: Callable[..., None]
) -> None:
    plane.delete("a")
    origin: dict[str, str | int] = {"dag": "theirs", "task": "write", "run": "manual__1"}
    runs = ConnectorRuns(SINK, "DirectorySink", "sink", runs=(RunRecord("r", RunState.SUCCESS, 1, 2, origin=origin),))
    add(Registered("a", SINK, runs=runs, registered=False))
    answer = limited.post("/connectors", json={"name": "a", "config": SINK})
    assert (answer.status_code, "may not edit the DAG" in answer.json()["message"]) == (403, True)
