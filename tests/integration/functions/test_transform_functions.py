"""Transformations that are functions: of a record or of many, with and without a schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.plugins.files import PluginFile
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from tests.support import unique
from tests.support.kafka import read_values

FUNCTIONS = '''
from dataclasses import dataclass
from datetime import datetime, timedelta
from airflow_kconnect.sdk import source, transform

@source(key="id", cursor="id", schema=None)
def plain(count: int = 4):
    yield from ({"id": n, "text": f"t{n}"} for n in range(1, count + 1))

@source(key="id", cursor="id")
def typed(count: int = 4):
    yield from ({"id": n, "text": f"t{n}", "at": datetime(2026, 1, n)} for n in range(1, count + 1))

@transform
def upper(record: dict, suffix: str = ""):
    """Texts in capitals; records with an even number are left out."""
    return None if record["id"] % 2 == 0 else {**record, "text": record["text"].upper() + suffix}

@transform
def later(record: dict):
    return {**record, "at": record["at"] + timedelta(days=1)}

@transform
def all_at_once(records: list[dict]) -> list[dict]:
    return [{**record, "text": f"of {min(len(records), 1)}"} for record in records]

@dataclass
class Length:
    id: int
    length: int

@transform
def length(record: dict) -> Length:
    return Length(record["id"], len(record["text"]))

@transform
def strict(record: dict):
    if record["id"] == 2:
        raise ValueError("two")
    return record
'''

Run = Callable[..., tuple[list[Any], RunReport]]


@pytest.fixture
def run_of(worker_props: dict[str, str], spark: SparkSession, tmp_path: Path, topic: Any) -> Run:
    """`run_of(source, transformation, **keys)`: the values that arrive, and the report."""
    path = tmp_path / f"{unique('functions').replace('-', '_')}.py"
    path.write_text(FUNCTIONS)
    registry().add(PluginFile.read(path))

    def make(source: str, transformation: str, **keys: str) -> tuple[list[Any], RunReport]:
        name = topic()
        config = {"name": name, "connector.class": f"{path.stem}.{source}", "topic": name, "transforms": "own"}
        own = {"transforms.own.type": f"{path.stem}.{transformation}", **keys}
        report = run(RunSpec({**config, **own}, worker_props), spark)
        return [
            json.loads(value or b"null")["payload"] for value in read_values(worker_props["bootstrap.servers"], name)
        ], report

    return make


@pytest.mark.parametrize("source", ["plain", "typed"])
def test_a_function_changes_or_drops_records(source: str, run_of: Run) -> None:
    found, report = run_of(source, "upper", **{"transforms.own.suffix": "!"})
    assert [(row["id"], row["text"]) for row in found] == [(1, "T1!"), (3, "T3!")]
    assert report.records["filtered"] == 2


@pytest.mark.parametrize("source", ["plain", "typed"])
def test_it_may_take_many_at_once(source: str, run_of: Run) -> None:
    assert [row["text"] for row in run_of(source, "all_at_once")[0]] == ["of 1"] * 4


def test_times_are_times(run_of: Run) -> None:
    first = run_of("typed", "later")[0][0]
    assert first["at"] == 1767312000000  # 2026-01-02


def test_what_it_returns_may_have_a_schema_of_its_own(run_of: Run) -> None:
    assert run_of("typed", "length")[0][0] == {"id": 1, "length": 2}


def test_without_its_schema_records_get_one(run_of: Run) -> None:
    assert run_of("plain", "length")[0][0] == {"id": 1, "length": 2}


def test_an_error_is_that_of_the_record(run_of: Run) -> None:
    with pytest.raises(DataError, match=r"bad record at .*TRANSFORMATION by .*\.strict: ValueError: two"):
        run_of("plain", "strict")


def test_a_predicate_keeps_records_from_it(run_of: Run) -> None:
    keys = {"transforms.own.predicate": "never", "predicates": "never", "predicates.never.pattern": "no-such-topic"}
    kind = {"predicates.never.type": "org.apache.kafka.connect.transforms.predicates.TopicNameMatches"}
    assert len(run_of("plain", "strict", **keys, **kind)[0]) == 4
