"""Sinks that are functions: what they are given, and what becomes of their errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.plugins.files import PluginFile
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from tests.support import unique
from tests.support.kafka import produce

SINKS = '''
import json, pathlib
import pyarrow as pa
from airflow_kconnect.sdk import SinkRecord, sink

def note(path, what):
    with pathlib.Path(path).open("a") as out:
        out.write(json.dumps(what) + "\\n")

@sink(batch=2)
def values(batch, path: str):
    """Notes values."""
    note(path, batch)

@sink
def records(batch: list[SinkRecord], path: str):
    note(path, [(record.kafka_offset, record.value) for record in batch])

@sink
def tables(batch: pa.Table, path: str):
    note(path, batch.to_pydict())

@sink
def failing(batch, path: str):
    raise {"broken": ValueError, "unavailable": ConnectionError}[path]("no answer")
'''

Run = Callable[..., RunReport]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes.jsonl"


@pytest.fixture
def run_of(worker_props: dict[str, str], spark: SparkSession, tmp_path: Path, notes: Path, topic: Any) -> Run:
    """`run_of(function, *values, **keys)`: one run over these values."""
    path = tmp_path / f"{unique('sinks').replace('-', '_')}.py"
    path.write_text(SINKS)
    registry().add(PluginFile.read(path))

    def make(function: str, *values: Any, replay: Replay | None = None, **keys: str) -> RunReport:
        name = topic()
        produce(
            worker_props["bootstrap.servers"], name, [None if v is None else json.dumps(v).encode() for v in values]
        )
        config = {"name": name, "connector.class": f"{path.stem}.{function}", "topics": name, "path": str(notes)}
        schemaless = {"value.converter.schemas.enable": "false"}
        converter = {"value.converter": "org.apache.kafka.connect.json.JsonConverter", **schemaless}
        return run(RunSpec({**config, **converter, **keys}, worker_props, replay=replay), spark)

    return make


def noted(notes: Path) -> list[Any]:
    return [json.loads(line) for line in notes.read_text().splitlines()]


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        ("values", [[{"n": 1}, {"n": 2}], [{"n": 3}]]),
        ("records", [[[0, {"n": 1}], [1, {"n": 2}], [2, {"n": 3}]]]),
        ("tables", [{"n": [1, 2, 3]}]),
    ],
)
def test_a_function_gets_batches(function: str, calls: list[Any], run_of: Run, notes: Path) -> None:
    run_of(function, {"n": 1}, {"n": 2}, {"n": 3})
    assert noted(notes) == calls


def test_records_may_be_tombstones(run_of: Run, notes: Path) -> None:
    run_of("records", {"n": 1}, None)
    assert noted(notes) == [[[0, {"n": 1}], [1, None]]]


def test_a_list_of_values_has_none(run_of: Run) -> None:
    with pytest.raises(
        DataError, match=r"-0@1: it is a tombstone, and values takes values only: let it take list\[SinkR"
    ):
        run_of("values", {"n": 1}, None)


@pytest.mark.parametrize(
    ("kind", "error", "text"),
    [
        ("broken", DataError, "failing failed: ValueError: no answer"),
        ("unavailable", RetriableError, "failing: ConnectionError: no answer"),
    ],
)
def test_an_error_of_the_function_is_that_of_the_run(kind: str, error: type[Exception], text: str, run_of: Run) -> None:
    with pytest.raises(error, match=text):
        run_of("failing", {"n": 1}, path=kind)


def test_a_replay_needs_a_word_of_the_function(run_of: Run) -> None:
    with pytest.raises(ConfigError, match=r"does no harm; if it does none: @sink\(idempotent=True\)"):
        run_of("values", {"n": 1}, replay=Replay(0, 1000, "test"))
