"""Runs of the directory sink into an object store are killed, or overtaken: no record is missing, none is doubled."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext

import pytest

from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.connectors.directory.encoders.texts import decompressed
from airflow_kconnect.places.base import Place
from airflow_kconnect.places.registry import open_place
from airflow_kconnect.runs.events import EXIT_FENCED
from tests.integration.runtime.conftest import STRING, Jobs, Run
from tests.support import kill_points, unique
from tests.support.kafka import produce
from tests.support.stores import Store, azure_store, google_store, hdfs_store, minio_store

_RECORDS = 5_000

# Where the run is killed, and whether anything of it was visible by then.
_KILL_POINTS = [
    ("mid-write", False),
    ("after-last-write", False),
    ("after-visible", True),
    ("after-final-commit", True),
]
_PAUSES = [("after-last-write",), ("before-visible",), ("after-visible",)]
_OTHER_SETTINGS = {"flush.size": "1200", "compression": "zstd"}


_OTHERS = (minio_store, azure_store, google_store, hdfs_store)
_MORE = [pytest.param(each, marks=pytest.mark.exhaustive) for each in _OTHERS]


@pytest.fixture(scope="module", params=[None, *_MORE], ids=lambda made: "s3_store" if made is None else made.__name__)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, s3: Store) -> Iterator[Store]:
    with nullcontext(s3) if request.param is None else request.param(tmp_path_factory.mktemp("store")) as made:
        yield made


@pytest.fixture
def sink(topic: Callable[..., str], bootstrap: str, store: Store) -> dict[str, str]:
    """A directory sink over a topic with numbered records."""
    name = topic(partitions=2)
    produce(bootstrap, name, [f"record-{n}" for n in range(_RECORDS)])
    return {
        "name": unique("sink"),
        "connector.class": "DirectorySink",
        "topics": name,
        "directory": f"{store.address}/{unique('lake')}",
        "flush.size": "1000",
        "value.converter": STRING,
        **store.settings,
    }


def _place(sink: dict[str, str]) -> Place:
    settings = {key: value for key, value in sink.items() if key.startswith("store.")}
    return open_place(sink["directory"], settings)


def _written(sink: dict[str, str], prefix: str = "") -> list[str]:
    place, lines = _place(sink), []
    for file in place.files(prefix):
        with place.read(file) as opened:
            lines += decompressed(io.BytesIO(opened.read()), file.name).read().splitlines()
    return sorted(json.loads(line) for line in lines)


def _numbered(count: int) -> list[str]:
    return sorted(f"record-{n}" for n in range(count))


@pytest.mark.spark_submit
@pytest.mark.parametrize(("point", "visible"), kill_points(_KILL_POINTS, always=("after-last-write",)))
def test_killed_run_leaves_every_record_once_and_no_uploads(
    point: str, visible: bool, sink: dict[str, str], bootstrap: str, run_here: Run, jobs: Jobs
) -> None:
    """The next run has other settings: its files are named and cut otherwise."""
    jobs.killed_at(point, sink)
    assert bool(_written(sink)) is visible
    produce(bootstrap, sink["topics"], [f"record-{n}" for n in range(_RECORDS, _RECORDS + 50)])
    run_here({**sink, **_OTHER_SETTINGS})
    assert _written(sink) == _numbered(_RECORDS + 50)
    assert list(_place(sink).staged()) == []


@pytest.mark.spark_submit
@pytest.mark.exhaustive
@pytest.mark.parametrize("point", kill_points(_PAUSES, always=("after-last-write",)))
def test_older_of_two_runs_leaves_the_newer_ones_objects(
    point: str, sink: dict[str, str], run_here: Run, jobs: Jobs
) -> None:
    older = {**sink, "flush.size": "1000000"}
    assert jobs.overtaken_at(point, older, lambda: run_here(sink)) == EXIT_FENCED
    assert _written(sink) == _numbered(_RECORDS)
    assert list(_place(sink).staged()) == []


def test_dry_run_leaves_nothing_and_a_replay_has_its_own_folder(sink: dict[str, str], run_here: Run) -> None:
    run_here(sink, dry_run=True)
    assert [*_place(sink).files(), *_place(sink).staged()] == []
    run_here(sink)
    run_here(sink, interval=Replay(0, 1 << 42, unique("key")))
    assert _written(sink, "_replays/") == _written(sink, f"{sink['topics']}/") == _numbered(_RECORDS)
