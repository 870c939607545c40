"""Python processes that move splits without Spark: real ones, of a parent that this test starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.runtime.process.split_processes import SplitProcesses
from airflow_kconnect.runtime.process.split_worker import Move, this_split
from airflow_kconnect.runtime.report_rows import report_row
from tests.support.split_processes import split_processes

# A job that moves splits which do not end, and says who moves them.
_DRIVER = """
import os, pathlib, sys, time
os.environ["KCONNECT_SPARK_OPTIONS"] = '["--master", "local[2]"]'
from airflow_kconnect.runtime.process import split_processes
split_processes.start()
def move(batches):
    for batch in batches:
        path = pathlib.Path(sys.argv[1], str(batch.column(0)[0]))
        path.with_suffix(".part").write_text(str(os.getpid()))
        path.with_suffix(".part").rename(path)
        time.sleep(600)
    yield
split_processes.of_this_job().run(move, 2, 2)
"""


@pytest.fixture(scope="module")
def processes() -> Iterator[SplitProcesses]:
    with split_processes({"OF_WORKERS": "yes"}) as (found, parent):
        yield found
    assert parent.returncode == 0


def telling(fact: Callable[[int], object]) -> Move:
    """Moves nothing, and reports a fact."""

    def move(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for split in batch.column(0).to_pylist():
                yield report_row(split, {"fact": fact(split)})

    return move


def _facts(processes: SplitProcesses, fact: Callable[[int], object], splits: int, parallelism: int = 2) -> list[Any]:
    return [report["fact"] for report in processes.run(telling(fact), splits, parallelism)]


def _pid(_: int) -> int:
    return os.getpid()


class TestReports:
    def test_they_come_in_the_order_of_the_splits(self, processes: SplitProcesses) -> None:
        def later_if_first(split: int) -> int:
            time.sleep(0.2 if split == 0 else 0)
            return split * split

        assert _facts(processes, later_if_first, 5) == [0, 1, 4, 9, 16]

    def test_a_task_knows_the_number_of_its_split(self, processes: SplitProcesses) -> None:
        assert _facts(processes, lambda _: this_split(), 3) == [0, 1, 2]

    def test_no_split_is_no_report(self, processes: SplitProcesses) -> None:
        assert processes.run(telling(_pid), 0, 2) == []

    def test_workers_have_the_environment_of_sparks(self, processes: SplitProcesses) -> None:
        assert _facts(processes, lambda _: os.environ["OF_WORKERS"], 1) == ["yes"]


class TestProcesses:
    def test_there_are_as_many_as_may_work_at_once(self, processes: SplitProcesses) -> None:
        def slow(_: int) -> int:
            time.sleep(0.05)
            return os.getpid()

        assert len(set(_facts(processes, slow, 8, parallelism=2))) == 2

    def test_one_is_used_by_one_call_after_the_other(self, processes: SplitProcesses) -> None:
        assert _facts(processes, _pid, 1) == _facts(processes, _pid, 1)

    def test_nothing_of_a_split_stays_for_the_next(self, processes: SplitProcesses) -> None:
        seen: list[int] = []

        def remembering(split: int) -> list[int]:
            seen.append(split)
            return list(seen)

        assert _facts(processes, remembering, 3, parallelism=1) == [[0], [1], [2]]

    def test_many_callers_share_them(self, processes: SplitProcesses) -> None:
        def call(number: int) -> list[Any]:
            return _facts(processes, lambda split: [number, split, os.getpid()], 20)

        with ThreadPoolExecutor(8) as threads:
            results = list(threads.map(call, range(8)))

        told = [fact for result in results for fact in result]
        assert [fact[:2] for fact in told] == [[number, split] for number in range(8) for split in range(20)]
        assert len({fact[2] for fact in told}) <= 2

    def test_what_a_worker_prints_is_for_the_log(self, processes: SplitProcesses) -> None:
        """The output of a driver has events, for the process that waits for it."""
        assert _facts(processes, lambda _: os.path.sameopenfile(1, 2), 1) == [True]


class TestFailures:
    def test_an_error_names_split_and_cause(self, processes: SplitProcesses) -> None:
        def failing(split: int) -> int:
            return 1 // (1 - split)

        with pytest.raises(RetriableError, match=r"^split 1 failed: ZeroDivisionError: integer division"):
            _facts(processes, failing, 2)

    def test_a_killed_worker_is_named_with_its_signal(self, processes: SplitProcesses) -> None:
        def killed(_: int) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        with pytest.raises(RetriableError, match=r"moved split 0 was ended by signal 9 \(SIGKILL\)"):
            _facts(processes, killed, 1)

    def test_a_worker_that_ends_itself_is_named_with_its_code(self, processes: SplitProcesses) -> None:
        with pytest.raises(RetriableError, match="moved split 0 ended with exit code 7"):
            _facts(processes, lambda _: os._exit(7), 1)

    def test_others_of_its_call_end_with_a_failed_split(self, processes: SplitProcesses, tmp_path: Path) -> None:
        def one_waits(split: int) -> None:
            if split == 0:
                (tmp_path / "pid").write_text(str(os.getpid()))
                time.sleep(600)
            while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
                time.sleep(0.01)
            raise ValueError("broken")

        with pytest.raises(RetriableError, match="split 1 failed: ValueError: broken"):
            _facts(processes, one_waits, 50)

        assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))

    def test_splits_of_other_calls_are_left_alone(self, processes: SplitProcesses, tmp_path: Path) -> None:
        def waiting(_: int) -> str:
            (tmp_path / "waits").touch()
            while not (tmp_path / "go").exists():
                time.sleep(0.01)
            return "whole"

        with ThreadPoolExecutor(1) as threads:
            other = threads.submit(_facts, processes, waiting, 1)
            while not (tmp_path / "waits").exists():
                time.sleep(0.01)
            with pytest.raises(RetriableError):
                _facts(processes, lambda _: [][0], 3)
            (tmp_path / "go").touch()

            assert other.result(30) == ["whole"]

    def test_a_worker_that_was_killed_while_it_waited_is_replaced(self, processes: SplitProcesses) -> None:
        (pid,) = _facts(processes, _pid, 1)
        psutil.Process(pid).kill()
        while psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)

        assert _facts(processes, _pid, 1) != [pid]

    def test_after_a_failure_others_work(self, processes: SplitProcesses) -> None:
        with pytest.raises(RetriableError):
            _facts(processes, lambda _: [][0], 3)

        assert _facts(processes, lambda split: split, 3) == [0, 1, 2]

    def test_without_their_parent_the_error_says_so(self) -> None:
        def parent_killed(_: int) -> None:
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(600)

        with split_processes({}) as (mortal, _):
            with pytest.raises(RetriableError, match="moved split 0 ended together with the parent of all"):
                _facts(mortal, parent_killed, 1)
            with pytest.raises(RetriableError, match="no Python process can be started for a split"):
                _facts(mortal, _pid, 1)


# Prints whether the job of a master has such processes.
_ASKING = """
import json, os, sys
os.environ["KCONNECT_SPARK_OPTIONS"] = json.dumps(["--master", sys.argv[1]])
os.environ["PYSPARK_PYTHON"] = sys.argv[2]
from airflow_kconnect.runtime.process import split_processes
split_processes.start()
print(split_processes.of_this_job() is not None)
split_processes.end()
"""


@pytest.mark.parametrize(
    ("master", "python", "expected"),
    [
        ("local[*]", sys.executable, True),
        ("local[2,4]", sys.executable, False),  # Spark tries tasks again
        pytest.param("local-cluster[1,1,1024]", sys.executable, False, marks=pytest.mark.exhaustive),
        ("local[2]", "/usr/bin/python3", False),
    ],
)
def test_they_are_used_where_they_are_what_sparks_workers_would_be(master: str, python: str, expected: bool) -> None:
    command = [sys.executable, "-c", _ASKING, master, python]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == [str(expected)]


# A job of a program that ignores how its children end, as each program that it starts does then.
_IGNORING = """
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.environ["KCONNECT_SPARK_OPTIONS"] = '["--master", "local[2]"]'
from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.runtime.process import split_processes
split_processes.start()
for _ in range(2):
    try:
        split_processes.of_this_job().run(lambda _: os._exit(7), 1, 1)
    except RetriableError as error:
        print(error)
split_processes.end()
"""


def test_a_job_may_be_started_by_what_ignores_the_ends_of_its_children() -> None:
    found = subprocess.run([sys.executable, "-c", _IGNORING], capture_output=True, text=True, check=True)
    assert found.stdout.count("ended with exit code 7") == 2, found.stderr


# Starts a process that stays, prints a line without an end, and moves a split.
_PRINTING = """
import os, subprocess, sys, time
os.environ["KCONNECT_SPARK_OPTIONS"] = '["--master", "local[2]"]'
from airflow_kconnect.runtime.process import split_processes
from airflow_kconnect.runtime.report_rows import report_row
split_processes.start()
def move(batches):
    for batch in batches:
        stays = subprocess.Popen(["sleep", "600"])
        print("whole\\npart", end="")
        yield report_row(0, {"pid": stays.pid})
print(split_processes.of_this_job().run(move, 1, 1)[0]["pid"])
split_processes.end()
"""

_DYING = """
import os
os.environ["KCONNECT_SPARK_OPTIONS"] = '["--master", "local[2]"]'
from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.runtime.process import split_processes
split_processes.start()
def move(batches):
    os.write(2, b"last words")
    os.abort()
try:
    split_processes.of_this_job().run(move, 1, 1)
except RetriableError as error:
    print(type(error).__name__)
split_processes.end()
"""


class TestOutput:
    """Of a job: the process that waits for it reads its events, its log and the ends of both from one pipe."""

    def test_what_splits_print_shares_no_line_with_events(self) -> None:
        """And it ends with the job, although a split has started something that stays."""
        command = [sys.executable, "-c", _PRINTING]
        found = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        lines = found.stdout.splitlines()
        (number,) = (int(line) for line in lines if line.isdigit())
        assert psutil.pid_exists(number)
        os.kill(number, signal.SIGKILL)
        assert [line for line in lines if not line.isdigit()] == ["whole", "part"]

    def test_what_a_split_printed_before_it_died_comes_before_the_error(self) -> None:
        found = subprocess.run(
            [sys.executable, "-c", _DYING], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
        )
        assert found.stdout.splitlines() == ["last words", "RetriableError"]


@pytest.mark.parametrize("signal_", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.exhaustive)])
def test_all_end_with_the_driver(signal_: signal.Signals, tmp_path: Path) -> None:
    driver = subprocess.Popen([sys.executable, "-c", _DRIVER, str(tmp_path)])
    deadline = time.monotonic() + 60
    while not (tmp_path / "0").exists() or not (tmp_path / "1").exists():
        assert time.monotonic() < deadline
        assert driver.poll() is None
        time.sleep(0.02)
    family = psutil.Process(driver.pid).children(recursive=True)

    driver.send_signal(signal_)
    driver.wait(30)

    assert {int((tmp_path / name).read_text()) for name in "01"} < {each.pid for each in family}
    _, alive = psutil.wait_procs(family, timeout=30)
    assert alive == []


@pytest.mark.exhaustive
def test_memory_stays_flat_over_thousands_of_splits(processes: SplitProcesses) -> None:
    def resident(_: int) -> int:
        return int(psutil.Process().memory_info().rss)

    first, *_, last = _facts(processes, resident, 3000, parallelism=1)

    assert last - first < 3_000_000
