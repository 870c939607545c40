"""Tasks that are stopped in the middle of their work, by a user and by the death of their worker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from airflow_kconnect.machine.process_tree import is_alive
from tests.support.airflow.standalone import ConnectorDag, StandaloneAirflow, wait_for
from tests.support.kafka import read_values
from tests.support.spark.jobs import command_of

LINES = [f"line {n}" for n in range(500)]


class Reading:
    """A DAG whose task reads a file, and stops the first time that it has written and not committed its records."""

    def __init__(self, airflow: StandaloneAirflow, topic: str, folder: Path, retries: int) -> None:
        self.airflow, self.topic = airflow, topic
        self._reached = folder / "reached"
        file = folder / "input.txt"
        file.write_text("".join(f"{line}\n" for line in LINES))
        connector = {
            "name": topic,
            "connector.class": "FileStreamSource",
            "file": str(file),
            "topic": topic,
            "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        }
        self.dag = ConnectorDag(airflow, topic, "KafkaSourceOperator", connector, retries=retries)
        self.dag.write(failpoint=f"after-last-produce:block:{self._reached}")

    def start(self) -> dict[str, str]:
        """Start a run; returns when its job stands still."""
        run = self.dag.trigger()
        wait_for(self._reached.exists, "the job did not come to its block", self.airflow)
        return run

    def job(self) -> list[psutil.Process]:
        """The job and all below it."""
        jobs = [process for process in self.airflow.processes() if "connector_job" in command_of(process)]
        found = {process.pid: process for first in jobs for process in (first, *first.children(recursive=True))}
        assert any(process.name() == "kconnect-split" for process in found.values())
        return list(found.values())


@pytest.fixture
def reading(airflow: StandaloneAirflow, topic: Callable[..., str], tmp_path: Path) -> Callable[[int], Reading]:
    return lambda retries: Reading(airflow, topic(prefix="lines"), tmp_path, retries)


@pytest.mark.spark_submit
@pytest.mark.timeout(600)
def test_a_task_that_a_user_stops_leaves_no_process_and_the_next_run_is_exact(
    reading: Callable[[int], Reading], bootstrap: str
) -> None:
    stopped = reading(0)
    run = stopped.start()
    job = stopped.job()
    stopped.dag.fail_task(run)
    wait_for(lambda: not any(map(is_alive, job)), "the job still runs", stopped.airflow)

    second = stopped.dag.wait_for_end(stopped.dag.trigger())

    assert second["state"] == "success"
    assert read_values(bootstrap, stopped.topic) == [line.encode() for line in LINES]


@pytest.mark.spark_submit
@pytest.mark.timeout(600)
def test_a_task_whose_worker_dies_is_retried_and_exact(reading: Callable[[int], Reading], bootstrap: str) -> None:
    left = reading(1)
    run = left.start()
    job = left.job()
    for process in _workers_of(job, left.airflow):
        process.kill()
    wait_for(lambda: not any(map(is_alive, job)), "the job of the dead worker still runs", left.airflow)

    run = left.dag.wait_for_end(run)

    assert (run["state"], left.dag.task(run)["try_number"]) == ("success", 2)
    assert read_values(bootstrap, left.topic) == [line.encode() for line in LINES]


def _workers_of(job: list[psutil.Process], airflow: StandaloneAirflow) -> list[psutil.Process]:
    """The processes between the job and the scheduler: the task and its supervisor."""
    pids = {process.pid for process in job}
    airflows = {process.pid for process in airflow.processes()} - pids
    above = {parent.pid: parent for process in job for parent in process.parents() if parent.pid in airflows}
    return [process for process in above.values() if "supervisor" in process.name() or "worker" in command_of(process)]
