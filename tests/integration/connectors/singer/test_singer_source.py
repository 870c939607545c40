"""Taps into Kafka, exactly once: runs that are killed, taps that fail in the middle of a transaction.

Each test needs two jobs, since what a kill leaves is seen by the next one only.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support import kill_points, unique
from tests.support.connectors.taps import Tap
from tests.support.kafka import read_all
from tests.support.spark.jobs import Job, kill_job_at, start_job

JSON = "org.apache.kafka.connect.json.JsonConverter"
SCHEMALESS = {
    "key.converter": JSON,
    "key.converter.schemas.enable": "false",
    "value.converter": JSON,
    "value.converter.schemas.enable": "false",
}
# A job that started Spark's JVM would end.
WITHOUT_JVM = {"spark.driver.extraJavaOptions": "-XX:NoSuchOption"}


class Runs:
    """Jobs of one connector, without Spark."""

    def __init__(self, tap: Tap, worker: dict[str, str], bootstrap: str, folder: Path) -> None:
        self.name = unique("singer")
        self.tap, self._bootstrap, self._folder = tap, bootstrap, folder / "jobs"
        self.worker = {**worker, "kconnect.singer.taps.allowed": str(tap.command)}
        self.topic = f"{self.name}.numbers"

    def config(self, **config: Any) -> dict[str, str]:
        return {
            "name": self.name,
            "connector.class": "SingerSource",
            "topic.prefix": f"{self.name}.",
            "transaction.boundary.interval.ms": "100",
            **SCHEMALESS,
            **self.tap.props(**config),
        }

    def start(self, keys: dict[str, str] | None = None, **config: Any) -> Job:
        return start_job({**self.config(**config), **(keys or {})}, self.worker, self._folder, conf=WITHOUT_JVM)

    def run(self, keys: dict[str, str] | None = None, *, code: int = 0, **config: Any) -> str:
        """:returns: the output of a run that ends with this exit code."""
        job = self.start(keys, **config)
        assert job.wait() == code, job.text()
        return job.text()

    def report(self, keys: dict[str, str] | None = None, **config: Any) -> dict[str, Any]:
        job = self.start(keys, **config)
        assert job.wait() == 0, job.text()
        return job.report()

    def kill_at(self, point: str, **config: Any) -> None:
        kill_job_at(point, self.config(**config), self.worker, self._folder, conf=WITHOUT_JVM)

    def arrived(self) -> list[int]:
        return [json.loads(record.value or b"")["n"] for record in read_all(self._bootstrap, self.topic)]


@pytest.fixture
def runs(worker_props: dict[str, str], bootstrap: str, tmp_path: Path) -> Runs:
    (folder := tmp_path / "tap").mkdir()
    return Runs(Tap(folder), worker_props, bootstrap, tmp_path)


def test_a_second_run_moves_what_is_new(runs: Runs) -> None:
    written = []
    for count in (23, 40):
        runs.tap.grow(count)
        report = runs.report()
        written.append(report["records"]["written"])
    assert report["guarantee"] == "exactly_once"
    assert (written, runs.arrived()) == ([23, 17], list(range(40)))


@pytest.mark.parametrize("point", kill_points([("mid-produce",), ("during-commit",), ("after-final-commit",)],
                                              always=("during-commit",)))  # fmt: skip
def test_killed_runs_lose_and_double_nothing(point: str, runs: Runs) -> None:
    runs.tap.grow(40)
    runs.kill_at(point)
    runs.tap.grow(65)
    runs.run()
    assert Counter(runs.arrived()) == Counter(range(65))


def test_runs_that_are_killed_at_random_lose_and_double_nothing(runs: Runs) -> None:
    runs.tap.grow(300)
    chance = random.Random(7)
    for _ in range(3):
        job = runs.start(pause_s=0.02)
        time.sleep(chance.uniform(2.0, 4.0))
        job.kill()
        job.close()
    runs.run()
    assert Counter(runs.arrived()) == Counter(range(300))


def test_a_killed_run_leaves_neither_the_tap_nor_its_files(runs: Runs) -> None:
    runs.tap.grow(20)
    job = runs.start(events={"13": "hang"})
    seen = Path(f"{runs.tap.count_file}.hang-13")
    deadline = time.monotonic() + 60
    while not seen.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    taps = [each for each in job.tree() if str(runs.tap.command) in " ".join(each.cmdline())]
    for each in job.tree():
        if each not in taps:
            each.kill()
    gone, alive = psutil.wait_procs(taps, 10)
    job.close()
    assert (len(gone), alive) == (2, [])
    assert not Path(runs.tap.seen()["cwd"]).exists()


def test_what_was_before_the_last_state_stays_when_the_tap_fails(runs: Runs) -> None:
    runs.tap.grow(30)
    output = runs.run(
        {"transaction.boundary.interval.ms": "30000"}, code=3, events={"13": "exit"}, password="hush-hush"
    )
    before = runs.arrived()
    runs.run()
    assert "tap-numbers has failed with exit code 1: the service does not answer" in output
    assert "hush-hush" not in output
    assert (before, runs.arrived()) == (list(range(10)), list(range(30)))


def test_a_schema_that_changes_in_the_middle_of_a_transaction_doubles_nothing(runs: Runs) -> None:
    runs.tap.grow(30)
    runs.run(size=10, events={"13": "schema-always"})
    assert runs.arrived() == list(range(30))


def test_a_bound_ends_a_run_at_a_state(runs: Runs) -> None:
    runs.tap.grow(30)
    report = runs.report({"kconnect.max.records": "7"})
    assert (report["incomplete"], runs.arrived()) == (["max_records"], list(range(10)))


def test_a_run_within_its_time_ends_at_a_state(runs: Runs) -> None:
    runs.tap.grow(1000)
    report = runs.report({"kconnect.max.duration.ms": "1500"}, pause_s=0.02)
    assert report["incomplete"] == ["max_duration"]
    assert 0 < len(runs.arrived()) < 1000
    assert len(runs.arrived()) % 5 == 0
