"""Taps into Kafka, exactly once: runs that are killed, taps that fail in the middle of a transaction.

Each test needs two jobs, since what a kill leaves is seen by the next one only.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from airflow_kconnect.runtime.process.session import LazySession
from tests.support import kill_points
from tests.support.connectors.runs import Runs
from tests.support.connectors.taps import Tap
from tests.support.spark.jobs import command_of, kill_all


class TapRuns(Runs):
    """Runs of a tap of numbers."""

    def __init__(self, tap: Tap, worker: dict[str, str], folder: Path, session: LazySession) -> None:
        allowed = {"kconnect.singer.taps.allowed": str(tap.command)}
        super().__init__(worker | allowed, folder, session, {"connector.class": "SingerSource", **tap.props()})
        self.tap = tap

    def numbers(self) -> list[int]:
        return self.column("numbers", "n")


@pytest.fixture
def runs(worker_props: dict[str, str], tmp_path: Path, spark_if_needed: LazySession) -> TapRuns:
    (folder := tmp_path / "tap").mkdir()
    return TapRuns(Tap(folder), worker_props, tmp_path, spark_if_needed)


@pytest.mark.parametrize("point", kill_points([("mid-produce",), ("during-commit",), ("after-final-commit",)],
                                              always=("during-commit",)))  # fmt: skip
def test_killed_runs_lose_and_double_nothing(point: str, runs: TapRuns) -> None:
    runs.tap.grow(40)
    runs.kill_at(point)
    runs.tap.grow(65)
    runs.run()
    assert Counter(runs.numbers()) == Counter(range(65))


@pytest.mark.exhaustive
def test_runs_that_are_killed_at_random_lose_and_double_nothing(runs: TapRuns) -> None:
    runs.tap.grow(200)
    chance = random.Random(7)
    for _ in range(2):
        job = runs.start(runs.tap.props(pause_s=0.02))
        time.sleep(chance.uniform(2.0, 4.0))
        job.kill()
        job.close()
    runs.run()
    assert Counter(runs.numbers()) == Counter(range(200))


def test_a_killed_run_leaves_neither_the_tap_nor_its_files(runs: TapRuns) -> None:
    runs.tap.grow(20)
    job = runs.start(runs.tap.props(events={"13": "hang"}))
    seen = Path(f"{runs.tap.count_file}.hang-13")
    deadline = time.monotonic() + 60
    while not seen.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    taps = [each for each in job.tree() if str(runs.tap.command) in command_of(each)]
    kill_all([each for each in job.tree() if each not in taps])
    gone, alive = psutil.wait_procs(taps, 60)
    job.close()
    assert (len(gone), alive) == (2, [])
    assert not Path(runs.tap.seen()["cwd"]).exists()


def test_what_was_before_the_last_state_stays_when_the_tap_fails(runs: TapRuns) -> None:
    runs.tap.grow(30)
    failing = runs.tap.props(events={"13": "exit"}, password="hush-hush")
    output = runs.failed({"transaction.boundary.interval.ms": "30000", **failing}, code=3)
    before = runs.numbers()
    runs.run()
    assert "tap-numbers has failed with exit code 1: the service does not answer" in output
    assert "hush-hush" not in output
    assert (before, runs.numbers()) == (list(range(10)), list(range(30)))


def test_a_schema_that_changes_in_the_middle_of_a_transaction_doubles_nothing(runs: TapRuns) -> None:
    runs.tap.grow(30)
    runs.run(runs.tap.props(size=10, events={"13": "schema-always"}))
    assert runs.numbers() == list(range(30))


def test_a_bound_ends_a_run_at_a_state_and_the_next_one_moves_the_rest(runs: TapRuns) -> None:
    runs.tap.grow(30)
    first, second = runs.run({"kconnect.max.records": "7"}), runs.run()
    assert (first.incomplete, first.guarantee) == (["max_records"], "exactly_once")
    assert [report.records["written"] for report in (first, second)] == [10, 20]
    assert runs.numbers() == list(range(30))


def test_a_run_within_its_time_ends_at_a_state(runs: TapRuns) -> None:
    runs.tap.grow(1000)
    report = runs.run({"kconnect.max.duration.ms": "1500", **runs.tap.props(pause_s=0.02)})
    assert report.incomplete == ["max_duration"]
    assert 0 < len(runs.numbers()) < 1000
    assert len(runs.numbers()) % 5 == 0
