"""Runs of sinks that write files are killed, or overtaken by newer ones: no record is missing, none is doubled."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from airflow_kconnect.runs.events import EXIT_FENCED, EXIT_OK
from tests.integration.runtime.conftest import STRING, Jobs, Run
from tests.support import kill_points, unique
from tests.support.kafka import produce

pytestmark = pytest.mark.spark_submit

_RECORDS = 30_000

# Where the run is killed, and whether anything of it was visible by then.
_KILL_POINTS = [
    ("after-reading-offsets", False),
    ("mid-write", False),
    ("after-last-write", False),
    ("after-visible", True),
    ("after-final-commit", True),
]

# Where the older of two runs stands while the newer one does everything.
_PAUSES = [("after-last-write",), ("before-visible",), ("after-visible",)]


@pytest.fixture
def sink(topic: Callable[..., str], bootstrap: str, tmp_path: Path) -> dict[str, str]:
    """A directory sink over a topic with numbered records, some of them in a transaction that was aborted."""
    name = topic(partitions=2)
    produce(bootstrap, name, [f"record-{n}" for n in range(_RECORDS)])
    return {
        "name": unique("sink"),
        "connector.class": "airflow_kconnect.connectors.directory.DirectorySinkConnector",
        "topics": name,
        "directory": str(tmp_path / "out"),
        "flush.size": "4000",
        "value.converter": STRING,
    }


def _written(sink: dict[str, str]) -> list[str]:
    files = sorted(path for path in Path(sink["directory"]).rglob("*.json") if not path.name.startswith("."))
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


@pytest.mark.parametrize(("point", "visible"), kill_points(_KILL_POINTS, always=("after-visible",)))
def test_killed_run_leaves_every_record_once(
    point: str, visible: bool, sink: dict[str, str], bootstrap: str, run_here: Run, jobs: Jobs
) -> None:
    jobs.killed_at(point, sink)
    assert bool(_written(sink)) is visible
    produce(bootstrap, sink["topics"], [f"record-{n}" for n in range(_RECORDS, _RECORDS + 50)])
    run_here(sink)
    assert sorted(_written(sink)) == sorted(f"record-{n}" for n in range(_RECORDS + 50))


@pytest.mark.parametrize("point", kill_points(_PAUSES, always=("after-last-write",)))
@pytest.mark.exhaustive
def test_older_of_two_runs_leaves_the_newer_ones_files(
    point: str, sink: dict[str, str], run_here: Run, jobs: Jobs
) -> None:
    """The newer run's files begin at other offsets: to the older one they look like left-overs."""
    older = {**sink, "flush.size": "1000000"}
    assert jobs.overtaken_at(point, older, lambda: run_here(sink)) == EXIT_FENCED
    assert sorted(_written(sink)) == sorted(f"record-{n}" for n in range(_RECORDS))


@pytest.mark.exhaustive
def test_older_run_that_has_not_begun_removes_nothing_of_the_newer_one(
    topic: Callable[..., str], bootstrap: str, tmp_path: Path, jobs: Jobs
) -> None:
    name, target = topic(), tmp_path / "out.txt"
    config = {
        "name": unique("sink"),
        "connector.class": "FileStreamSink",
        "topics": name,
        "file": str(target),
        "value.converter": STRING,
    }
    produce(bootstrap, name, [f"record-{n}" for n in range(10)])
    older = jobs.start(config, failpoint="after-reading-offsets")
    older.wait_for_failpoint()
    produce(bootstrap, name, [f"record-{n}" for n in range(10, 20)])
    newer = jobs.start(config, failpoint="after-last-write")
    newer.wait_for_failpoint()
    older.reached.unlink()
    assert older.wait() == EXIT_FENCED
    newer.reached.unlink()
    assert newer.wait() == EXIT_OK
    assert target.read_text().splitlines() == [f"record-{n}" for n in range(20)]
