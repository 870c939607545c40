"""Runs that spread the tasks of a Java connector over Connect workers on Spark's executors.

They take a Spark with an executor, and two JVMs with Connect: there is no other way to see workers ask each other. One
of the tests is for CI; the others are its further cases.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from airflow_kconnect.kafka.admin import KafkaAdmin
from tests.support.kafka import produce, read_values
from tests.support.spark.jobs import Job, command_of, kill_all, start_job, wait_gone

Config = Callable[..., dict[str, str]]
Run = Callable[..., Any]

# One executor with room for one task.
MASTER = "local-cluster[1,1,1024]"
CONF = {"spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
COUNT = 200
EXPECTED = sorted(f"{task}-{n}" for task in (0, 1) for n in range(COUNT))


@pytest.fixture
def rough_worker(hosting_worker: dict[str, str], rough_plugins: Path) -> dict[str, str]:
    return {**hosting_worker, "plugin.path": str(rough_plugins)}


@pytest.fixture
def two_tasks(rough_source: Config) -> dict[str, str]:
    """A source whose tasks deliver 200 records each."""
    return rough_source("gets its tasks late", COUNT, **{"tasks.max": "2"})


def _moved(bootstrap: str, config: dict[str, str]) -> list[str]:
    return sorted((value or b"").decode() for value in read_values(bootstrap, config["topic"]))


def _await_text(job: Job, text: str) -> None:
    deadline = time.monotonic() + 240
    while text not in job.text():
        assert time.monotonic() < deadline and job.process.poll() is None, job.text()
        time.sleep(0.1)


def _on_executor(job: Job) -> psutil.Process:
    """The JVM of the Connect worker on the executor."""
    hosts = [process for process in job.tree() if "py4j.GatewayServer" in command_of(process)]
    return next(process for process in hosts if process.ppid() != job.driver().pid)


@pytest.mark.exhaustive
def test_a_source_is_exactly_once_with_its_tasks_in_two_workers(
    bootstrap: str, two_tasks: dict[str, str], rough_worker: dict[str, str], tmp_path: Path
) -> None:
    # The worker on the executor asks the leader to fence former tasks before its own task delivers.
    job = start_job(two_tasks, rough_worker, tmp_path / "job", master=MASTER, conf=CONF)
    assert job.wait() == 0, job.text()
    report = job.report()
    assert (report["records"]["written"], report["guarantee"]) == (2 * COUNT, "exactly_once")
    assert (report["complete"], report["notes"]["ended"]) == (True, "idle")
    assert sorted(task for worker in report["notes"]["workers"] for task in worker["tasks"]) == [0, 1]
    assert [len(worker["tasks"]) for worker in report["notes"]["workers"]] == [1, 1]
    assert _moved(bootstrap, two_tasks) == EXPECTED


@pytest.mark.exhaustive
def test_a_sink_writes_everything_by_tasks_in_two_workers(
    bootstrap: str, topic: Callable[..., str], java_sink: Config, hosting_worker: dict[str, str], tmp_path: Path
) -> None:
    source = topic(partitions=2)
    produce(bootstrap, source, [f"record {n}" for n in range(100)])
    job = start_job(java_sink(source, **{"tasks.max": "2"}), hosting_worker, tmp_path / "job", master=MASTER, conf=CONF)
    assert job.wait() == 0, job.text()
    report = job.report()
    assert (report["records"]["written"], report["complete"], report["lag_max"]) == (100, True, 0)
    assert [len(worker["tasks"]) for worker in report["notes"]["workers"]] == [1, 1]
    lines = (tmp_path / "out.txt").read_text().splitlines()
    assert sorted(lines) == sorted(f"record {n}" for n in range(100))


@pytest.mark.exhaustive
def test_a_killed_driver_leaves_no_process_and_nothing_doubled(
    bootstrap: str, two_tasks: dict[str, str], rough_worker: dict[str, str], run_rough: Run, tmp_path: Path
) -> None:
    job = start_job(two_tasks, rough_worker, tmp_path / "job", failpoint="before-stop", master=MASTER, conf=CONF)
    job.wait_for_failpoint()
    everyone = [*job.tree(), _on_executor(job)]
    kill_all([job.driver()])
    assert wait_gone(everyone, 30) == []
    job.close()
    assert run_rough(two_tasks).complete
    assert _moved(bootstrap, two_tasks) == EXPECTED


@pytest.mark.exhaustive
@pytest.mark.parametrize("victim", ["worker", "executor"])
def test_a_lost_worker_fails_the_run_as_retriable_and_leaves_nothing_doubled(
    bootstrap: str,
    two_tasks: dict[str, str],
    rough_worker: dict[str, str],
    run_rough: Run,
    tmp_path: Path,
    victim: str,
) -> None:
    config = {**two_tasks, "kconnect.hosted.idle.ms": "60000"}
    job = start_job(config, rough_worker, tmp_path / "job", master=MASTER, conf=CONF)
    _await_text(job, "moving records")
    everyone = job.tree()
    worker = _on_executor(job)
    lost = worker if victim == "worker" else worker.parents()[2]
    lost.kill()
    assert job.wait(120) == 3, job.text()
    assert "the Connect worker on host" in job.event("error")["message"]
    assert wait_gone([*everyone, worker], 30) == []
    assert run_rough(two_tasks).complete
    assert _moved(bootstrap, two_tasks) == EXPECTED


@pytest.mark.exhaustive
def test_a_worker_that_cannot_start_fails_the_run_before_anything_is_moved(
    bootstrap: str, two_tasks: dict[str, str], rough_worker: dict[str, str], tmp_path: Path
) -> None:
    conf = {**CONF, "spark.executorEnv.KCONNECT_CACHE": "/proc/nothing"}
    job = start_job(two_tasks, rough_worker, tmp_path / "job", master=MASTER, conf=conf)
    assert job.wait() == 1, job.text()
    message = job.event("error")["message"]
    assert "the Connect worker on host" in message
    assert "Cannot write /proc/nothing" in message
    assert two_tasks["topic"] not in KafkaAdmin({"bootstrap.servers": bootstrap}).topics()


@pytest.mark.exhaustive
def test_on_a_local_master_there_is_one_worker(
    bootstrap: str, two_tasks: dict[str, str], rough_worker: dict[str, str], tmp_path: Path
) -> None:
    job = start_job(two_tasks, rough_worker, tmp_path / "job")
    assert job.wait() == 0, job.text()
    assert "workers" not in job.report()["notes"]
    assert _moved(bootstrap, two_tasks) == EXPECTED
