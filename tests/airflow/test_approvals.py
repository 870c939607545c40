"""Tasks that wait for a person, in Airflow itself with a real broker; its API server takes most of the CPU time."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import Producer

from airflow_kconnect import KafkaConnectHook
from airflow_kconnect.runs.events import event_line
from tests.airflow.conftest import PASSWORDS
from tests.support import unique
from tests.support.airflow.dags import add_dag
from tests.support.airflow.versions import needs_airflow_3_3
from tests.support.positions import commit
from tests.support.spark.fake_spark import FakeSpark, printing

# Before 3.3 such a task waits for a trigger, and so would the test.
pytestmark = [needs_airflow_3_3, pytest.mark.timeout(300)]

MakeTopic = Callable[..., str]

_DAG = """
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG

from airflow_kconnect import ApproveDeadLetterReplayOperator, ApproveOffsetChangeOperator, ResetOffsetsOperator

with DAG({dag_id!r}, schedule=None):
    ApproveDeadLetterReplayOperator(task_id="ask", connector="sink.json") >> EmptyOperator(task_id="after")
    ApproveOffsetChangeOperator(task_id="approve", connector="sink.json") >> ResetOffsetsOperator(
        task_id="reset", connector="sink.json"
    )
"""


@pytest.fixture
def sink(topic: MakeTopic, tmp_path: Path, connections: None) -> dict[str, str]:
    """A sink, in a file next to the DAG, with a topic for its dead letters."""
    config = {
        "name": unique("orders"),
        "connector.class": "DirectorySink",
        "topics": topic(),
        "directory": str(tmp_path),
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": topic(),
    }
    (tmp_path / "sink.json").write_text(json.dumps(config))
    return config


class Person:
    """Answers the questions of a DAG's tasks through Airflow's API, as its page does, and remembers them.

    :param answers: by task.
    """

    def __init__(self, url: str, dag_id: str, answers: dict[str, str]) -> None:
        self.questions: dict[str, dict[str, Any]] = {}
        self._url, self._dag_id, self._answers = url, dag_id, answers
        self._thread = threading.Thread(target=self._answer)

    def __enter__(self) -> Person:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._answers = {}
        self._thread.join()

    def _answer(self) -> None:
        with httpx.Client(base_url=self._url, timeout=60) as client:
            login = client.post("/auth/token", json={"username": "ada", "password": PASSWORDS["ada"]})
            client.headers["Authorization"] = f"Bearer {login.json()['access_token']}"
            while set(self._answers) - set(self.questions):
                waiting = client.get(f"/api/v2/dags/{self._dag_id}/dagRuns/~/hitlDetails").json()["hitl_details"]
                for question in waiting:
                    self._decide(client, question, question["task_instance"])
                time.sleep(0.2)

    def _decide(self, client: httpx.Client, question: dict[str, Any], task: dict[str, Any]) -> None:
        if task["state"] != "awaiting_input" or task["task_id"] in self.questions:
            return
        run = f"/api/v2/dags/{self._dag_id}/dagRuns/{task['dag_run_id']}"
        path = f"{run}/taskInstances/{task['task_id']}/-1/hitlDetails"
        answer = client.patch(path, json={"chosen_options": [self._answers[task["task_id"]]]})
        assert answer.status_code == 200, answer.text
        self.questions[task["task_id"]] = question


def _states(run: Any) -> dict[str, str]:
    return {ti.task_id: str(ti.state) for ti in run.get_task_instances()}


def _dead_letter(bootstrap: str, topic: str, number: int, value: str) -> None:
    error = {
        "topic": "orders",
        "partition": "0",
        "offset": str(number),
        "stage": "VALUE_CONVERTER",
        "exception.class.name": "DataException",
        "exception.message": f"Cannot read {value}",
    }
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(topic, value, headers=[(f"__connect.errors.{key}", text.encode()) for key, text in error.items()])
    assert producer.flush(30) == 0


def test_a_person_decides_by_facts_without_contents(
    airflow_url: str, bootstrap: str, sink: dict[str, str], tmp_path: Path
) -> None:
    for number in (7, 8):
        _dead_letter(bootstrap, sink["errors.deadletterqueue.topic.name"], number, "secret")
    commit(bootstrap, f"connect-{sink['name']}", {(sink["topics"], 0): 0})
    KafkaConnectHook().stop(sink)
    dag = add_dag(tmp_path, _DAG.format(dag_id=unique("approvals")))

    with Person(airflow_url, dag.dag_id, {"ask": "Reject", "approve": "Approve"}) as person:
        run = dag.test()

    assert _states(run) == {"ask": "success", "after": "skipped", "approve": "success", "reset": "success"}
    replay, reset = person.questions["ask"], person.questions["approve"]
    assert replay["subject"] == f"Replay 2 dead letters of connector {sink['name']}?"
    assert "| `2` | `DataException` | `VALUE_CONVERTER` | `orders-0@8` |" in replay["body"]
    assert "secret" not in json.dumps(replay)
    assert "`kafka_offset=0`" in reset["body"]
    assert KafkaConnectHook().offsets(sink) == []


_AFTER_FAILURE = """
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG

from airflow_kconnect import ApproveAfterFailureOperator, KafkaSinkOperator

with DAG({dag_id!r}, schedule=None):
    (
        KafkaSinkOperator(task_id="write", connector="../sink.json")
        >> ApproveAfterFailureOperator(task_id="ask", connector="../sink.json")
        >> EmptyOperator(task_id="write_new_columns")
    )
"""


def test_a_person_sees_why_a_run_has_failed_before_the_next_task_runs(
    airflow_url: str, sink: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    error = event_line("error", error="DataError", message="table orders has no column `vat`", exit_code=1, errors=None)
    FakeSpark(tmp_path).behave(printing(error, exit_code=1))
    dag = add_dag(tmp_path / "dag", _AFTER_FAILURE.format(dag_id=unique("approvals")))

    with Person(airflow_url, dag.dag_id, {"ask": "Approve"}) as person:
        run = dag.test()

    assert _states(run) == {"write": "failed", "ask": "success", "write_new_columns": "success"}
    body = person.questions["ask"]["body"]
    assert "| `write` | `ConnectorDataError` | `table orders has no column  vat` |" in body


def test_a_rejected_failure_fails_the_dag_run_also_if_no_error_is_known(
    airflow_url: str, sink: dict[str, str], tmp_path: Path
) -> None:
    source = _AFTER_FAILURE.format(dag_id=unique("approvals")).replace(
        'KafkaSinkOperator(task_id="write", connector="../sink.json")',
        'BashOperator(task_id="write", bash_command="kill -9 $$")',
    )
    dag = add_dag(tmp_path / "dag", f"from airflow.providers.standard.operators.bash import BashOperator\n{source}")

    with Person(airflow_url, dag.dag_id, {"ask": "Reject"}) as person:
        run = dag.test()

    assert _states(run) == {"write": "failed", "ask": "failed", "write_new_columns": "upstream_failed"}
    assert run.state == "failed"
    assert "| `write` | `not known` | `It left no error: see its log` |" in person.questions["ask"]["body"]


def test_where_there_is_nothing_to_approve_nothing_is_asked(
    airflow_database: Path, sink: dict[str, str], tmp_path: Path
) -> None:
    run = add_dag(tmp_path, _DAG.format(dag_id=unique("approvals"))).test()

    assert _states(run) == dict.fromkeys(("ask", "after", "approve", "reset"), "skipped")
