"""Runs are killed in the middle, with real Spark: nothing is left running, and the next run is exact."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from airflow_kconnect import KafkaSourceOperator
from airflow_kconnect.machine.process_tree import is_alive
from tests.support import unique
from tests.support.airflow.operator_runs import context
from tests.support.kafka import read_values
from tests.support.spark.jobs import command_of
from tests.support.spark.spark_master import SparkCluster

pytestmark = pytest.mark.spark_submit

_QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
LINES = [f"line {number}" for number in range(2000)]
# Records are sent, and not committed.
_FAILPOINT = "after-last-produce:block:{}"


class Load:
    """A file source, and the place where its run is to stop."""

    def __init__(self, folder: Path) -> None:
        self.name = unique("killed")
        self.reached = folder / "reached"
        self.failpoint = {"KCONNECT_TESTING": "1", "KCONNECT_FAILPOINT": _FAILPOINT.format(self.reached)}
        (folder / "input").write_text("".join(f"{line}\n" for line in LINES))
        self.parameters: dict[str, Any] = {
            "task_id": "read",
            "connector": {
                "name": self.name,
                "connector.class": "FileStreamSource",
                "file": str(folder / "input"),
                "topic": self.name,
                "value.converter": "org.apache.kafka.connect.storage.StringConverter",
                # Spark runs it: without a transformation lines go to Kafka past the JVM.
                "transforms": "mark",
                "transforms.mark.type": "org.apache.kafka.connect.transforms.InsertHeader",
                "transforms.mark.header": "from",
                "transforms.mark.value.literal": "input",
            },
            "worker_config": {
                "offset.storage.replication.factor": "-1",
                "offset.storage.topic": f"{self.name}-offsets",
            },
        }

    def wait_until_reached(self, is_alive: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 180
        while not self.reached.exists():
            assert is_alive(), "the job ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.1)


@pytest.fixture
def load(tmp_path: Path) -> Load:
    return Load(tmp_path)


def _next_run_is_exact(load: Load, bootstrap: str, **parameters: Any) -> None:
    """The run after the killed one moves everything: nothing is lost, nothing is doubled."""
    report = KafkaSourceOperator(**load.parameters, **parameters).execute(context())

    assert report is not None
    assert report["records"]["written"] == len(LINES)
    assert report["guarantee"] == "exactly_once"
    values = [value.decode() for value in read_values(bootstrap, load.name) if value is not None]
    assert sorted(values) == sorted(LINES)


class _Task:
    """An operator that runs in a thread until it is killed as Airflow does it."""

    def __init__(self, operator: KafkaSourceOperator) -> None:
        self.operator = operator
        self.errors: list[Exception] = []
        self.thread = threading.Thread(target=self._execute, daemon=True)
        self.thread.start()

    def tree(self) -> list[psutil.Process]:
        """The JVM of spark-submit, the driver, and where Spark is local its workers."""
        process = self.operator._hook._submit_sp  # type: ignore[union-attr]
        assert process is not None
        submitted = psutil.Process(process.pid)
        return [submitted, *submitted.children(recursive=True)]

    def kill(self) -> None:
        self.operator.on_kill()
        self.thread.join(60)

    def _execute(self) -> None:
        try:
            self.operator.execute(context())
        except Exception as error:
            self.errors.append(error)


def _named(processes: list[psutil.Process], text: str) -> list[psutil.Process]:
    return [process for process in processes if text in command_of(process)]


def _left_of(processes: list[psutil.Process], within_s: float = 0.0) -> list[psutil.Process]:
    """Those that run when the time is over; a zombie does not."""
    deadline = time.monotonic() + within_s
    while left := [process for process in processes if is_alive(process)]:
        if time.monotonic() > deadline:
            break
        time.sleep(0.1)
    return left


class TestOnKill:
    @pytest.mark.exhaustive  # as standalone/test_task_lifecycle.py, with a failpoint
    def test_leaves_no_process_and_no_file(self, connections: None, load: Load) -> None:
        """The job is stopped while a Python worker of Spark is in the middle of its transaction."""
        task = _Task(KafkaSourceOperator(**load.parameters, env_vars=load.failpoint))
        try:
            load.wait_until_reached(task.thread.is_alive)
            tree = task.tree()
            workers, drivers = _named(tree, "worker_daemon"), _named(tree, "connector_job.py")
        finally:
            task.kill()

        assert workers
        assert drivers
        assert _left_of(tree) == []
        assert task.operator._run_file is not None
        assert not task.operator._run_file.exists()
        assert len(task.errors) == 1


# A worker process of Airflow, as far as it matters here: it waits for spark-submit.
_WORKER = """
import json, sys
from airflow_kconnect import KafkaSourceOperator
from tests.support.airflow.operator_runs import context
KafkaSourceOperator(**json.loads(sys.argv[1])).execute(context())
"""


@pytest.mark.exhaustive  # standalone/test_task_lifecycle.py kills a worker of a whole Airflow
class TestWorkerIsKilled:
    def test_the_job_ends_by_itself_and_the_next_run_is_exact(
        self, connections: None, load: Load, bootstrap: str, tmp_path: Path
    ) -> None:
        """SIGKILL to the process that waits for spark-submit, which then can end nothing and remove nothing."""
        parameters = json.dumps({**load.parameters, "env_vars": load.failpoint})
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        with (tmp_path / "worker.log").open("wb") as log:
            command = [sys.executable, "-c", _WORKER, parameters]
            worker = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        load.wait_until_reached(lambda: worker.poll() is None)
        tree = psutil.Process(worker.pid).children(recursive=True)
        workers, drivers = _named(tree, "worker_daemon"), _named(tree, "connector_job.py")

        worker.kill()
        worker.wait(10)

        assert workers
        assert drivers
        assert _left_of(tree, within_s=60) == []
        assert not list(tmp_path.glob("kconnect-*.json"))
        _next_run_is_exact(load, bootstrap)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    """A standalone Spark cluster."""
    started = SparkCluster(tmp_path_factory.mktemp("spark-cluster"))
    try:
        started.start()
        yield started
    finally:
        started.stop()


@pytest.mark.exhaustive
class TestStandaloneCluster:
    @pytest.fixture
    def on_cluster(
        self, cluster: SparkCluster, connections: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> dict[str, str]:
        """Spark settings of jobs on the cluster, whose executors have a Python without this package."""
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": cluster.url}))
        return cluster.conf(tmp_path)

    def test_a_killed_run_leaves_nothing_and_the_next_one_is_exact(
        self, cluster: SparkCluster, on_cluster: dict[str, str], load: Load, bootstrap: str
    ) -> None:
        stopping = {f"spark.executorEnv.{name}": value for name, value in load.failpoint.items()}
        task = _Task(KafkaSourceOperator(**load.parameters, conf=on_cluster | stopping))
        try:
            load.wait_until_reached(task.thread.is_alive)
            tree, executors = task.tree(), cluster.executors()
            workers, drivers = _named(executors, "worker_daemon"), _named(tree, "connector_job.py")
        finally:
            task.kill()

        assert workers
        assert drivers
        assert _left_of(tree) == []
        assert _left_of(executors, within_s=60) == []
        _next_run_is_exact(load, bootstrap, conf=on_cluster)
