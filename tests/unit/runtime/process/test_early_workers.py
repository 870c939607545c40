"""The parent of Python workers that starts before Spark needs it, and the process that hands over to it."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest

from airflow_kconnect.runtime.process.early_workers import differ, start_early
from airflow_kconnect.runtime.process.handing_over import PARENT, WORKERS
from tests.support.spark.jobs import wait_gone

_COMMAND = [sys.executable, "-m", "airflow_kconnect.runtime.worker_daemon"]
# pytest changes it during a test.
_SAME = {"PYTEST_CURRENT_TEST": "", "OMP_NUM_THREADS": "1"}
_OF_SPARK = {"PYTHON_WORKER_FACTORY_SECRET": "s", "PYTHONUNBUFFERED": "YES", "SPARK_REUSE_WORKER": "1"}


@pytest.fixture
def folder() -> Iterator[Path]:
    """With a path that is short enough for sockets."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture
def early(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[psutil.Process]:
    """The parent, as a job starts it."""
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv(PARENT, "")
    before = set(psutil.Process().children())
    start_early(folder, _SAME)
    (process,) = set(psutil.Process().children()) - before
    _wait_for(Path(os.environ[PARENT]))
    yield process
    with suppress(psutil.NoSuchProcess):
        process.kill()
        process.wait()


class _Started:
    """What Spark starts, with the variables that Spark sets."""

    def __init__(self, environment: Mapping[str, str] = {}, worker: str = WORKERS) -> None:
        everything = {**os.environ, **_OF_SPARK, **_SAME, **environment}
        self.process = subprocess.Popen(
            [*_COMMAND, worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=everything
        )

    def port(self) -> int:
        """Where workers are asked for: printed by the one that is their parent."""
        assert self.process.stdout is not None
        (port,) = struct.unpack("!i", self.process.stdout.read(4))
        return int(port)

    def listeners(self) -> set[int]:
        return _ports(psutil.Process(self.process.pid))

    def end(self) -> None:
        """As Spark does."""
        with self.process:
            assert self.process.stdin is not None
            self.process.stdin.close()


def _ports(process: psutil.Process) -> set[int]:
    return {connection.laddr.port for connection in process.net_connections("tcp")}


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_early_parent_continues_for_the_one_of_spark_and_both_end_with_spark(early: psutil.Process) -> None:
    started = _Started()
    port = started.port()
    assert (port in _ports(early), port in started.listeners()) == (True, False)
    started.end()
    assert wait_gone([early]) == []


def test_the_early_parent_has_the_environment_that_spark_gives(early: psutil.Process, folder: Path) -> None:
    started = _Started({"PYTHON_UNIX_DOMAIN_ENABLED": "true", "PYTHON_WORKER_FACTORY_SOCK_DIR": str(folder)})
    assert started.process.stdout is not None
    (length,) = struct.unpack("!i", started.process.stdout.read(4))
    assert Path(started.process.stdout.read(length).decode()).parent == folder
    started.end()


@pytest.mark.parametrize(
    ("environment", "worker"),
    [({"OMP_NUM_THREADS": "2"}, WORKERS), ({}, "pyspark.sql.worker.create_data_source")],
    ids=["another environment", "other workers"],
)
def test_spark_has_a_parent_of_its_own_if_it_asks_for_something_else(
    early: psutil.Process, environment: Mapping[str, str], worker: str
) -> None:
    started = _Started(environment, worker)
    assert started.port() in started.listeners()
    started.end()


def test_spark_has_a_parent_of_its_own_if_the_early_one_is_dead(early: psutil.Process) -> None:
    early.kill()
    early.wait()
    started = _Started()
    assert started.port() in started.listeners()
    started.end()


def test_spark_has_a_parent_of_its_own_if_the_early_one_dies_while_it_is_asked(early: psutil.Process) -> None:
    early.send_signal(signal.SIGSTOP)
    started = _Started()
    time.sleep(0.5)
    early.kill()
    assert started.port() in started.listeners()
    started.end()


def test_the_early_parent_ends_with_its_job(folder: Path) -> None:
    job = (
        "import sys\nfrom pathlib import Path\nfrom airflow_kconnect.runtime.process.early_workers import start_early\n"
        "start_early(Path(sys.argv[1]), {})\nprint(flush=True)\nsys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", job, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
    ) as driver:
        assert driver.stdout is not None
        driver.stdout.readline()
        (early,) = psutil.Process(driver.pid).children()
        driver.kill()
    assert wait_gone([early]) == []


@pytest.mark.parametrize(
    "variable", ["SPARK_HOME", "PYSPARK_PYTHON", "_PYSPARK_X", "PYTHONPATH", "PYTHON_X", "_", "PWD"]
)
def test_what_spark_sets_by_itself_is_no_difference(variable: str) -> None:
    assert not differ({}, {variable: "x"})


@pytest.mark.parametrize("variable", ["PATH", "LD_PRELOAD", "PYTHONSAFEPATH", "PYTHONHASHSEED", "MY_SPARK_X"])
def test_what_imports_may_have_read_is_a_difference(variable: str) -> None:
    assert differ({variable: "x"}, {})
