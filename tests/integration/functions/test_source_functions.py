"""Sources that are functions, from a file to Kafka: exactly once, with schemas that widen, in other processes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.plugins.files import PluginFile
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from tests.support import unique
from tests.support.kafka import read_values

ROWS = '''
import json, pathlib
from collections.abc import Iterator
from typing import TypedDict
from airflow_kconnect.sdk import State, source

def rows_of(path):
    return json.loads(pathlib.Path(path).read_text())

@source(key="id", cursor="at")
def by_cursor(path: str):
    """Rows of a JSON file, by time."""
    yield from rows_of(path)

@source(key="id", cursor="id", partitions=lambda tenants: tenants)
def by_tenant(path: str, tenants: list[str], partition: str):
    yield from (row for row in rows_of(path) if row["tenant"] == partition)

@source(key="id")
async def by_state(path: str, state: dict):
    for row in rows_of(path)[state.get("row", 0):]:
        yield row
        yield State(row=row["id"])

class Declared(TypedDict):
    id: int

@source(key="id")
def declared(path: str) -> Iterator[Declared]:
    yield from rows_of(path)

@source
def failing(kind: str):
    yield {"n": 1}
    raise {"broken": ValueError, "unavailable": ConnectionError}[kind]("no answer")
'''

Run = Callable[..., RunReport]


@pytest.fixture
def rows(tmp_path: Path) -> Callable[..., None]:
    """`rows(*rows)`: what the functions yield."""

    def write(*rows: dict[str, Any]) -> None:
        (tmp_path / "rows.json").write_text(json.dumps(rows))

    return write


@pytest.fixture
def run_of(worker_props: dict[str, str], spark: SparkSession, tmp_path: Path) -> Run:
    """`run_of(function, topic, **keys)`: one run."""
    path = tmp_path / f"{unique('rows').replace('-', '_')}.py"
    path.write_text(ROWS)
    registry().add(PluginFile.read(path))

    def make(function: str, topic: str, **keys: str) -> RunReport:
        config = {"name": topic, "connector.class": f"{path.stem}.{function}", "topic": topic}
        file = {} if function == "failing" else {"path": str(tmp_path / "rows.json")}
        return run(RunSpec({**config, **file, **keys}, worker_props), spark)

    return make


def payloads(bootstrap: str, topic: str) -> list[Any]:
    return [json.loads(value or b"null")["payload"] for value in read_values(bootstrap, topic)]


def test_a_second_run_sends_what_is_new(run_of: Run, rows: Any, topic: Any, bootstrap: str) -> None:
    name = topic()
    rows({"id": 1, "at": 5}, {"id": 2, "at": 6})
    run_of("by_cursor", name)
    rows({"id": 1, "at": 5}, {"id": 2, "at": 6}, {"id": 3, "at": 6})
    report = run_of("by_cursor", name)
    assert report.records["written"] == 1
    assert [row["id"] for row in payloads(bootstrap, name)] == [1, 2, 3]


def test_a_new_field_widens_the_schema_within_the_run(run_of: Run, rows: Any, topic: Any, bootstrap: str) -> None:
    name = topic()
    rows(*({"id": n, "at": n} for n in range(1500)), {"id": 1500, "at": 1500, "more": "x"})
    report = run_of("by_cursor", name)
    found = payloads(bootstrap, name)
    assert (report.complete, report.records["written"], found[0], found[-1]) == (
        True,
        1501,
        {"id": 0, "at": 0},
        {"id": 1500, "at": 1500, "more": "x"},
    )


@pytest.mark.parametrize(
    ("function", "found", "text"),
    [
        (
            "by_cursor",
            [{"id": 1, "at": 1, "n": 1}, {"id": 2, "at": 2, "n": "two"}, {"id": 3, "at": 3, "n": 3}],
            "field `n` of the value was of type int64 in other records, and is a text",
        ),
        (
            "declared",
            [{"id": 1}, {"id": 2, "colour": "red"}, {"id": 3}],
            "The value: it has a field `colour`, which its schema does not have",
        ),
    ],
    ids=["a contradiction", "an undeclared field"],
)
def test_what_does_not_fit_the_schema_is_a_bad_record_that_can_be_skipped(
    function: str, found: list[dict[str, Any]], text: str, run_of: Run, rows: Any, topic: Any, bootstrap: str
) -> None:
    name = topic()
    rows(*found)
    with pytest.raises(DataError, match=text):
        run_of(function, name)
    report = run_of(function, name, **{"errors.tolerance": "all"})
    assert ([row["id"] for row in payloads(bootstrap, name)], report.records["dead_lettered"]) == ([1, 3], 1)


def test_partitions_have_offsets_of_their_own(run_of: Run, rows: Any, topic: Any) -> None:
    name = topic()
    rows({"id": 1, "tenant": "a"}, {"id": 7, "tenant": "b"})
    report = run_of("by_tenant", name, tenants="a,b", **{"tasks.max": "2"})
    offsets = {offset["partition"]["partition"]: offset["offset"] for offset in report.offsets}
    assert offsets == {"a": {"id": 1}, "b": {"id": 7}}


@pytest.mark.parametrize("each", [2, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_bounded_runs_send_each_record_once(each: int, run_of: Run, rows: Any, topic: Any, bootstrap: str) -> None:
    name = topic()
    rows(*({"id": n} for n in range(1, 4)))
    for _ in range(3 // each + 2):
        run_of("by_state", name, **{"kconnect.max.records": str(each)})
    assert [row["id"] for row in payloads(bootstrap, name)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("kind", "error", "text"),
    [
        ("broken", DataError, "failing of task 0 failed: ValueError: no answer"),
        ("unavailable", RetriableError, "failing: ConnectionError: no answer"),
    ],
)
def test_an_error_of_the_function_is_that_of_the_run(
    kind: str, error: type[Exception], text: str, run_of: Run, topic: Any
) -> None:
    with pytest.raises(error, match=text):
        run_of("failing", topic(), kind=kind)
