"""Tasks of a Java connector in Connect workers on the executors of a real Spark master, with two Spark workers.

Dear, so exhaustive: a master, two workers, and three JVMs with Connect in each run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.kafka import produce, read_values
from tests.support.spark.jobs import Job, start_job, wait_gone
from tests.support.spark.spark_master import SparkCluster

Config = Callable[..., dict[str, str]]

COUNT = 200
EXPECTED = sorted(f"{task}-{n}" for task in range(3) for n in range(COUNT))

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    started = SparkCluster(tmp_path_factory.mktemp("spark-cluster"), workers=2)
    try:
        started.start()
        yield started
    finally:
        started.stop()


@pytest.fixture
def submit(cluster: SparkCluster, tmp_path: Path) -> Callable[..., Job]:
    """Start a job with an executor of one core on each Spark worker: `submit(config, worker)`."""
    conf = cluster.conf(tmp_path) | {"spark.executor.cores": "1", "spark.cores.max": "2"}
    return lambda config, worker: start_job(config, worker, tmp_path / "job", master=cluster.url, conf=conf)


@pytest.fixture
def rough_worker(hosting_worker: dict[str, str], rough_plugins: Path) -> dict[str, str]:
    return {**hosting_worker, "plugin.path": str(rough_plugins)}


@pytest.fixture
def three_tasks(rough_source: Config) -> dict[str, str]:
    """A source whose tasks deliver 200 records each."""
    return rough_source("has three tasks", COUNT, **{"tasks.max": "3"})


def test_a_source_is_exactly_once_with_its_tasks_in_three_workers(
    bootstrap: str, three_tasks: dict[str, str], rough_worker: dict[str, str], submit: Callable[..., Job]
) -> None:
    job = submit(three_tasks, rough_worker)
    assert job.wait() == 0, job.text()
    report = job.report()
    assert (report["records"]["written"], report["guarantee"]) == (3 * COUNT, "exactly_once")
    assert (report["complete"], report["notes"]["ended"]) == (True, "idle")
    assert [len(worker["tasks"]) for worker in report["notes"]["workers"]] == [1, 1, 1]
    assert moved(bootstrap, three_tasks) == EXPECTED


def test_a_sink_writes_everything_by_tasks_in_three_workers(
    bootstrap: str,
    topic: Callable[..., str],
    java_sink: Config,
    hosting_worker: dict[str, str],
    submit: Callable[..., Job],
    tmp_path: Path,
) -> None:
    source = topic(partitions=3)
    produce(bootstrap, source, [f"record {n}" for n in range(100)])
    job = submit(java_sink(source, **{"tasks.max": "3"}), hosting_worker)
    assert job.wait() == 0, job.text()
    report = job.report()
    assert (report["records"]["written"], report["complete"], report["lag_max"]) == (100, True, 0)
    assert [len(worker["tasks"]) for worker in report["notes"]["workers"]] == [1, 1, 1]
    lines = (tmp_path / "out.txt").read_text().splitlines()
    assert sorted(lines) == sorted(f"record {n}" for n in range(100))


def test_a_spark_worker_that_fails_with_all_it_has_started_leaves_nothing_doubled(
    bootstrap: str,
    three_tasks: dict[str, str],
    rough_worker: dict[str, str],
    run_hosted: Callable[..., Any],
    submit: Callable[..., Job],
    cluster: SparkCluster,
) -> None:
    job = submit({**three_tasks, "kconnect.hosted.idle.ms": "60000"}, rough_worker)
    deadline = time.monotonic() + 240
    while '"name":"moving records"' not in job.text():
        assert time.monotonic() < deadline and job.process.poll() is None, job.text()
        time.sleep(0.1)
    everyone = [*job.tree(), *cluster.executors()]
    lost = cluster.kill_worker(1)
    assert job.wait(120) == 3, job.text()
    assert "the Connect worker on host" in job.event("error")["message"]
    assert wait_gone([*everyone, *lost], 30) == []
    assert run_hosted(three_tasks, **rough_worker).complete
    assert moved(bootstrap, three_tasks) == EXPECTED


def moved(bootstrap: str, config: dict[str, str]) -> list[str]:
    return sorted((value or b"").decode() for value in read_values(bootstrap, config["topic"]))
