"""A connector that is created over REST in a whole Airflow: its DAG, its run, its status."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from airflow_kconnect.submit.dag_ids import dag_id_of
from tests.support import unique
from tests.support.airflow.standalone import StandaloneAirflow, wait_for
from tests.support.kafka import eventually, read_all

_FILE = """
from airflow_kconnect import registered_connector_dags
registered_connector_dags(max_age_s=0, driver_memory="1g")
"""


@dataclass
class Registered:
    """A file source that is registered over Connect's REST API, and the DAG file of registered connectors."""

    airflow: StandaloneAirflow
    name: str
    topic: str

    @property
    def dag_id(self) -> str:
        """Of the connector's DAG."""
        return dag_id_of(self.name)

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status code and body of Connect's REST API."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.airflow.url}/kconnect{path}", data, method=method)
        request.add_header("Content-Type", "application/json")
        request.add_header("Authorization", f"Bearer {self.airflow.token}")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def parse(self) -> None:
        """Give Airflow the DAG file, which it reads at once."""
        (self.airflow.dags / "registered.py").write_text(_FILE)

    def has_dag(self) -> bool:
        """Whether Airflow lists the connector's DAG."""
        found = self.airflow.ask("GET", "/api/v2/dags?limit=100")["dags"]
        return self.dag_id in [dag["dag_id"] for dag in found]

    def state(self) -> str | None:
        """Of the connector, as REST tells it."""
        status, answer = self.ask("GET", f"/connectors/{self.name}/status")
        return str(answer["connector"]["state"]) if status == 200 else None

    def runs(self) -> list[str]:
        """States of the DAG's runs."""
        return [run["state"] for run in self.airflow.ask("GET", f"/api/v2/dags/{self.dag_id}/dagRuns")["dag_runs"]]


@pytest.fixture(scope="module")
def registered(airflow: StandaloneAirflow, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registered]:
    """The connector after its first run."""
    lines = tmp_path_factory.mktemp("lines") / "in.txt"
    lines.write_text("one\ntwo\n")
    connector = Registered(airflow, unique("lines"), unique("lines"))
    config = {"connector.class": "FileStreamSource", "file": str(lines), "topic": connector.topic}
    status, answer = connector.ask("POST", "/connectors", {"name": connector.name, "config": config})
    assert status == 201, answer
    connector.parse()
    wait_for(connector.has_dag, "the connector has no DAG", airflow)
    assert connector.ask("POST", f"/connectors/{connector.name}/restart")[0] == 204
    wait_for(lambda: connector.runs() == ["success"], "the run has not succeeded", airflow)
    yield connector
    connector.ask("DELETE", f"/connectors/{connector.name}")
    (airflow.dags / "registered.py").unlink()


def test_a_restart_over_rest_runs_the_connector(registered: Registered, bootstrap: str) -> None:
    def payloads() -> list[str]:
        return [json.loads(record.value or b"")["payload"] for record in read_all(bootstrap, registered.topic)]

    assert eventually(payloads, ["one", "two"]) == ["one", "two"]


def test_the_status_is_that_of_the_run(registered: Registered) -> None:
    _, status = registered.ask("GET", f"/connectors/{registered.name}/status")
    assert (status["connector"]["state"], [task["state"] for task in status["tasks"]]) == ("RUNNING", ["RUNNING"])


def test_the_topics_of_the_run_are_known(registered: Registered) -> None:
    answer = registered.ask("GET", f"/connectors/{registered.name}/topics")[1]
    assert answer == {registered.name: {"topics": [registered.topic]}}


def test_the_offsets_of_the_run_are_shown(registered: Registered) -> None:
    offsets = registered.ask("GET", f"/connectors/{registered.name}/offsets")[1]["offsets"]
    assert [entry["offset"] for entry in offsets] == [{"position": 8}]
