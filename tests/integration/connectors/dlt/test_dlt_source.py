"""dlt's own sources into Kafka, exactly once: a REST API, a database and files, with runs that are killed."""

from __future__ import annotations

import json
import sqlite3
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.runtime.process.session import LazySession
from tests.support import kill_points
from tests.support.connectors.runs import Runs
from tests.support.paged_api import PagedApi, api_config


class Origin(ABC):
    """Where dlt reads: numbers 0, 1, 2, ... that become more.

    :ivar table: the name of the resource's table in dlt.
    """

    table: str

    @abstractmethod
    def config(self) -> dict[str, str]:
        """The keys that name it."""

    @abstractmethod
    def grow(self, to: int) -> None:
        """Have the numbers below `to`."""


class Api(Origin):
    table = "orders"

    def __init__(self, api: PagedApi) -> None:
        self.api = api

    def config(self) -> dict[str, str]:
        return {"dlt.rest_api": json.dumps(api_config(self.api))}

    def grow(self, to: int) -> None:
        self.api.count = to


class Table(Origin):
    table = "orders"

    def __init__(self, folder: Path) -> None:
        self._path, self._count = folder / "shop.db", 0
        with sqlite3.connect(self._path) as connection:
            connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, amount NUMERIC(10, 2))")

    def config(self) -> dict[str, str]:
        return {
            "dlt.source": "dlt.sources.sql_database:sql_table",
            "dlt.args.credentials": f"sqlite:///{self._path}",
            "dlt.args.table": "orders",
            "dlt.args.chunk_size": "7",
            "dlt.args.incremental": '{"cursor_path": "id", "row_order": "asc"}',
            "dlt.schemas": "declared",
        }

    def grow(self, to: int) -> None:
        with sqlite3.connect(self._path) as connection:
            connection.executemany("INSERT INTO orders VALUES (?, 1.5)", [(n,) for n in range(self._count, to)])
        self._count = to


class Files(Origin):
    """Files of lines; only the end of a run is a resume point."""

    table = "read_jsonl"

    def __init__(self, folder: Path) -> None:
        self._folder, self._count = folder, 0

    def config(self) -> dict[str, str]:
        return {
            "dlt.source": "dlt.sources.filesystem:readers",
            "dlt.args.bucket_url": self._folder.as_uri(),
            "dlt.args.file_glob": "*.jsonl",
            "dlt.args.incremental": '{"cursor_path": "modification_date"}',
            "dlt.resources": "read_jsonl",
        }

    def grow(self, to: int) -> None:
        for first in range(self._count, to, 10):
            lines = [json.dumps({"id": n}) for n in range(first, min(first + 10, to))]
            half = self._folder / f"{first}.half"
            half.write_text("\n".join(lines))
            half.rename(self._folder / f"{first}.jsonl")
        self._count = to


@pytest.fixture
def api() -> Iterator[PagedApi]:
    with PagedApi().serving() as serving:
        yield serving


# The API is killed in CI too, at any point: see the last test.
@pytest.fixture(params=[*(pytest.param(kind, marks=pytest.mark.exhaustive) for kind in (Api, Table)), Files])
def origin(request: pytest.FixtureRequest, api: PagedApi, tmp_path: Path) -> Origin:
    (folder := tmp_path / "origin").mkdir()
    kind: Any = request.param
    made: Origin = kind(api if kind is Api else folder)
    return made


class OriginRuns(Runs):
    """Runs that read an origin."""

    def __init__(self, origin: Origin, worker: dict[str, str], folder: Path, session: LazySession) -> None:
        variables = {"config.providers": "env", "config.providers.env.class": "EnvVarConfigProvider"}
        super().__init__(worker | variables, folder, session, {"connector.class": "DltSource", **origin.config()})
        self.origin = origin

    def ids(self) -> list[int]:
        return self.column(self.origin.table, "id")


@pytest.fixture
def runs(
    origin: Origin,
    worker_props: dict[str, str],
    tmp_path: Path,
    spark_if_needed: LazySession,
    monkeypatch: pytest.MonkeyPatch,
) -> OriginRuns:
    monkeypatch.setenv("KCONNECT_API_TOKEN", "hush")
    return OriginRuns(origin, worker_props, tmp_path, spark_if_needed)


@pytest.mark.parametrize("point", kill_points([("mid-produce",), ("during-commit",), ("after-final-commit",)],
                                              always=("during-commit",)))  # fmt: skip
def test_killed_runs_lose_and_double_nothing(point: str, runs: OriginRuns) -> None:
    runs.origin.grow(40)
    runs.kill_at(point)
    runs.origin.grow(65)
    report = runs.run()
    assert report.guarantee == "exactly_once"
    assert Counter(runs.ids()) == Counter(range(65))


@pytest.mark.parametrize("origin", [Api], indirect=True)
def test_pages_that_are_committed_are_not_read_again_after_a_kill(runs: OriginRuns, api: PagedApi) -> None:
    api.count, api.pause_s, api.held_from = 100, 0.3, 70
    job = runs.start()
    deadline = time.monotonic() + 150
    while not runs.ids() and time.monotonic() < deadline:
        time.sleep(0.2)
    job.kill()
    job.close()
    before = runs.ids()  # more may have been committed while it was looked
    api.pause_s, api.held_from, api.failures = 0.0, None, 1  # dlt asks again
    api.release.set()
    report = runs.run()
    assert 0 < len(before) <= 70
    assert report.records["written"] == 100 - len(before)
    assert Counter(runs.ids()) == Counter(range(100))
