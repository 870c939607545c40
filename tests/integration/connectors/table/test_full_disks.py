"""A table whose disk is full, or must not be written: the run says so, no one sees a part of it, and the next one
writes everything. Disks are mounted, which needs root: elsewhere these tests are skipped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.runs.events import EXIT_RETRIABLE
from airflow_kconnect.runtime.sink import planned
from tests.integration.runtime.conftest import STRING, Run
from tests.integration.runtime.conftest import run_here as run_here
from tests.support import unique
from tests.support.kafka import produce
from tests.support.small_disks import read_only, small_disk
from tests.support.spark.jobs import start_job
from tests.support.tables import rows_by_another_engine

pytestmark = pytest.mark.usefixtures("lake")

FORMATS = ("iceberg", "delta")


class Stored:
    """A sink of a topic, and its table in a folder."""

    def __init__(self, bootstrap: str, topic: str, table_format: str, folder: Path) -> None:
        self._bootstrap, self.folder = bootstrap, folder / "db" / "t"
        catalog = unique("stored").replace("-", "_")  # the session of the tests keeps it
        iceberg = {"table.catalog": catalog, "table.catalog.type": "hadoop", "table.catalog.warehouse": str(folder)}
        place = {"table.name.format": f"delta.`{self.folder}`"} if table_format == "delta" else iceberg
        self.config = {
            "name": unique("sink"),
            "connector.class": "SparkTableSink",
            "topics": topic,
            "table.format": table_format,
            "table.name.format": "db.t",
            "auto.create": "true",
            "key.converter": STRING,
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            **place,
        }

    def add(self, *numbers: int) -> None:
        schema = {"type": "struct", "fields": [{"field": "n", "type": "int64"}]}
        values = [json.dumps({"schema": schema, "payload": {"n": n}}) for n in numbers]
        produce(self._bootstrap, self.config["topics"], values)

    def rows(self) -> list[int]:
        return sorted(row["n"] for row in rows_by_another_engine(self.folder))


MakeStored = Callable[[str], Stored]


@pytest.fixture
def stored(bootstrap: str, topic: Callable[..., str], tmp_path: Path) -> MakeStored:
    """A sink whose table is in a format."""
    return lambda table_format: Stored(bootstrap, topic(), table_format, tmp_path)


exhaustive = pytest.mark.exhaustive


@pytest.mark.parametrize(
    ("table_format", "part", "step"),
    [
        pytest.param("iceberg", "data", "planned", id="iceberg-files", marks=exhaustive),
        pytest.param("iceberg", "metadata", "planned", id="iceberg-staging", marks=exhaustive),
        pytest.param("iceberg", "metadata", "before-visible", id="iceberg-publication"),
        pytest.param("delta", ".", "planned", id="delta-files", marks=exhaustive),
        pytest.param("delta", "_delta_log", "planned", id="delta-log", marks=exhaustive),
    ],
)
def test_a_full_disk_ends_the_run_and_the_next_one_writes_everything(
    table_format: str, part: str, step: str, stored: MakeStored, run_here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = stored(table_format)
    sink.add(1, 2)
    run_here(sink.config)
    sink.add(3)
    with small_disk(sink.folder / part) as disk:
        monkeypatch.setattr(planned, "failpoint", lambda name: disk.fill() if name == step else None)
        with pytest.raises(RetriableError, match=r"table .*t.*: no space is left where its files are .*: free some"):
            run_here(sink.config)
        monkeypatch.undo()
        assert sink.rows() == [1, 2]
        disk.enlarge()
        run_here(sink.config)
        assert sink.rows() == [1, 2, 3]


@pytest.mark.parametrize("table_format", [FORMATS[0], pytest.param(FORMATS[1], marks=exhaustive)])
def test_a_folder_that_must_not_be_written_is_an_error_of_the_configuration(
    table_format: str, stored: MakeStored, run_here: Run
) -> None:
    sink = stored(table_format)
    sink.add(1)
    run_here(sink.config)
    sink.add(2)
    with (
        read_only(sink.folder),
        pytest.raises(ConfigError, match=r"table .*t.*: its folder cannot be written .*Read-only file system"),
    ):
        run_here(sink.config)
    assert sink.rows() == [1]
    run_here(sink.config)
    assert sink.rows() == [1, 2]


@pytest.mark.exhaustive
@pytest.mark.spark_submit
def test_full_local_folders_of_spark_are_named(
    stored: MakeStored, worker_props: dict[str, str], run_here: Run, tmp_path: Path
) -> None:
    """Rows are clustered by partition before they are written: that needs these folders."""
    sink = stored("iceberg")
    sink.add(*range(2000))
    config = {**sink.config, "table.partition.by": "bucket(n, 4)"}
    local = tmp_path / "local"
    local.mkdir()
    with small_disk(local) as disk:
        disk.enlarge("500m")  # Spark's copies of jars are there too
        conf = {"spark.local.dir": str(local)}
        job = start_job(config, worker_props, tmp_path / "runs", conf=conf, failpoint="mid-read")
        job.wait_for_failpoint()
        disk.fill()
        job.reached.unlink()
        assert job.wait() == EXIT_RETRIABLE
    assert "no space is left in Spark's local folders, `spark.local.dir`" in job.event("error")["message"]
    run_here(config)
    assert sink.rows() == list(range(2000))
