"""Connectors of the runtime tests: a file of numbered lines, and runs in the shared Spark session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RecordsShown, RunSpec
from airflow_kconnect.runtime.job import run, shown
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.variables.resolver import ConfigResolver
from tests.support import unique
from tests.support.spark.jobs import Job, end_of_overtaken, kill_job_at, start_job
from tests.support.stores import Store, s3_store

STRING = "org.apache.kafka.connect.storage.StringConverter"

# Transformations need Spark, whatever they do.
NEEDS_SPARK = {
    "transforms": "nothing",
    "transforms.nothing.type": "org.apache.kafka.connect.transforms.DropHeaders",
    "transforms.nothing.headers": "none",
}

Run = Callable[..., RunReport]
Preview = Callable[..., dict[str, Any]]
Source = Callable[..., dict[str, str]]


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """S3 for this test run, in a process of its own."""
    with s3_store(tmp_path_factory.mktemp("s3")) as made:
        yield made


@pytest.fixture
def run_here(spark_if_needed: LazySession, worker_props: dict[str, str]) -> Run:
    """Run a connector in this process, with the shared session if it needs Spark: `run_here(config, **worker_keys)`."""

    def go(
        config: Mapping[str, str],
        *,
        replay: bool = False,
        interval: Replay | None = None,
        dry_run: bool = False,
        **worker: str,
    ) -> RunReport:
        keys = {**worker_props, **worker}
        spec = RunSpec(
            dict(config), keys, run_id=unique("run"), replay_dead_letters=replay, replay=interval, dry_run=dry_run
        )
        return run(spec, spark_if_needed)

    return go


@pytest.fixture
def preview_here(spark: SparkSession, worker_props: dict[str, str]) -> Preview:
    """What a source would read next, in the shared session: `preview_here(config, 3, **worker_keys)`."""
    output = {
        "preview.output.value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "preview.output.value.converter.schemas.enable": "false",
        "preview.output.value.converter.decimal.format": "NUMERIC",
    }

    def show(config: Mapping[str, str], most: int = 3, **worker: str) -> dict[str, Any]:
        wanted = RecordsShown(most, output)
        spec = RunSpec(config, {**worker_props, **worker}, preview=wanted)
        return shown(spec, wanted, ConfigResolver.from_worker(spec.worker), spark.newSession())

    return show


class Jobs:
    """Runs of connectors as jobs of their own, which can be killed; see `tests.support.spark.jobs`."""

    def __init__(self, worker: Mapping[str, str], folder: Path) -> None:
        self._worker, self._folder = worker, folder

    def start(self, config: Mapping[str, str], **start: Any) -> Job:
        """A run that is in progress."""
        return start_job(config, self._worker, self._folder, **start)

    def killed_at(self, failpoint: str, config: Mapping[str, str]) -> None:
        """A run that is killed where it stops."""
        kill_job_at(failpoint, config, self._worker, self._folder)

    def overtaken_at(self, failpoint: str, config: Mapping[str, str], newer: Callable[[], object]) -> int:
        """The exit code of a run that stands at a failpoint while a newer one does everything."""
        return end_of_overtaken(failpoint, config, self._worker, self._folder, newer)


@pytest.fixture
def jobs(worker_props: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    """Jobs with the worker of the test."""
    return Jobs(worker_props, tmp_path_factory.mktemp("jobs"))


class NumberedFile:
    """A file whose line n is ``line-<n>``: what is missing or doubled in a topic can be counted."""

    def __init__(self, path: Path) -> None:
        self.path, self.lines = path, 0

    def append(self, count: int) -> None:
        """Add lines."""
        with self.path.open("a") as out:
            out.writelines(f"line-{n}\n" for n in range(self.lines, self.lines + count))
        self.lines += count

    def expected(self) -> list[bytes]:
        """The values that a topic should hold."""
        return [f"line-{n}".encode() for n in range(self.lines)]


@pytest.fixture
def numbered(tmp_path: Path) -> NumberedFile:
    """An empty numbered file."""
    file = NumberedFile(tmp_path / "in.txt")
    file.path.touch()
    return file


@pytest.fixture
def file_source(numbered: NumberedFile) -> Source:
    """The configuration of a file source over `numbered`, with a topic of its own."""

    def config(**more: str) -> dict[str, str]:
        name = unique("source")
        return {
            "name": name,
            "connector.class": "FileStreamSource",
            "file": str(numbered.path),
            "topic": f"t-{name}",
            "value.converter": STRING,
            **more,
        }

    return config


def missing_and_doubled(expected: list[bytes], found: list[bytes | None]) -> tuple[set[bytes], list[bytes | None]]:
    """What a topic lacks, and what it has too often."""
    seen: set[bytes | None] = set()
    doubled: list[bytes | None] = []
    for value in found:
        if value in seen:
            doubled.append(value)
        seen.add(value)
    return set(expected) - seen, doubled
