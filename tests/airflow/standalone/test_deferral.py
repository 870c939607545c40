"""Deferred tasks in a whole Airflow, whose triggerer asks a ResourceManager: a real HTTP server that plays YARN's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from tests.support import unique
from tests.support.airflow.standalone import ConnectorDag, StandaloneAirflow, wait_for
from tests.support.spark.fake_spark import FakeSpark, printing
from tests.support.spark.resource_manager import APPLICATION, ResourceManager, resource_manager

_DAG = """
import os

from airflow.sdk import DAG

from airflow_kconnect import KafkaSourceOperator

os.environ["PATH"] = {spark!r} + os.pathsep + os.environ["PATH"]

with DAG({name!r}, schedule=None):
    KafkaSourceOperator(
        task_id="move",
        connector={{"name": {name!r}, "connector.class": "FileStreamSource", "file": "/data/in", "topic": "lines"}},
        conn_id={name!r},
        deferrable=True,
    )
"""


@pytest.fixture(scope="module")
def yarn() -> Iterator[ResourceManager]:
    with resource_manager("RUNNING") as manager:
        yield manager


@pytest.fixture(scope="module")
def deferred(
    airflow: StandaloneAirflow, yarn: ResourceManager, tmp_path_factory: pytest.TempPathFactory
) -> ConnectorDag:
    """A DAG with a deferrable task, and its connection to YARN."""
    folder, name = tmp_path_factory.mktemp("spark"), unique("deferred")
    FakeSpark(folder).behave(printing(f"INFO YarnClientImpl: Submitted application {APPLICATION}"))
    extra = {"deploy-mode": "cluster", "yarn_resourcemanager_webapp_address": yarn.address}
    connection = {"connection_id": name, "conn_type": "spark", "host": "yarn", "extra": json.dumps(extra)}
    airflow.ask("POST", "/api/v2/connections", connection)
    (airflow.dags / f"{name}.py").write_text(_DAG.format(spark=str(folder), name=name))
    return ConnectorDag.of_file(airflow, name, "move")


@pytest.fixture
def waiting(
    airflow: StandaloneAirflow, yarn: ResourceManager, deferred: ConnectorDag
) -> Callable[[str], dict[str, str]]:
    """Starts a run; returns it when its task is deferred and its trigger has asked for the first time."""

    def start(answer: str) -> dict[str, str]:
        yarn.answer(answer)
        before, run = yarn.asked, deferred.trigger()
        wait_for(lambda: yarn.asked > before, "no trigger asks", airflow)
        return run

    return start


@pytest.mark.timeout(600)
def test_a_task_ends_with_its_job(waiting: Callable[[str], dict[str, str]], deferred: ConnectorDag) -> None:
    run = waiting("FINISHED/SUCCEEDED")

    assert deferred.wait_for_end(run)["state"] == "success"


@pytest.mark.timeout(600)
def test_a_job_continues_if_another_triggerer_takes_over(
    waiting: Callable[[str], dict[str, str]],
    airflow: StandaloneAirflow,
    deferred: ConnectorDag,
    yarn: ResourceManager,
) -> None:
    """Airflow 3.3 tells the first triggerer the same as if a user had stopped the task."""
    run = waiting("RUNNING")

    with airflow.other_triggerer():
        wait_for(lambda: "by another triggerer" in deferred.log(run), "the first one is not told", airflow)
    yarn.answer("FINISHED/SUCCEEDED")

    assert deferred.wait_for_end(run)["state"] == "success"
    assert yarn.killed == []


@pytest.mark.timeout(600)
def test_a_task_that_a_user_stops_ends_its_job(
    waiting: Callable[[str], dict[str, str]],
    airflow: StandaloneAirflow,
    deferred: ConnectorDag,
    yarn: ResourceManager,
) -> None:
    run = waiting("RUNNING")

    deferred.fail_task(run)

    wait_for(lambda: yarn.killed == [APPLICATION], "the job was not ended", airflow)
    assert deferred.wait_for_end(run)["state"] == "failed"
