"""Plans for values that are parsed where they are read; a value that is not makes the run write with another one."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame

from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.connectors.changes import SCHEMA_CHANGE
from airflow_kconnect.connectors.table import writing
from airflow_kconnect.connectors.table.columns import rows
from airflow_kconnect.runtime.sink import jobs
from tests.integration.runtime.conftest import Run
from tests.integration.runtime.sink.planned.conftest import Lake, record

FIRST = [record(id=n, name=f"n{n}") for n in range(150)]
"""Among the first messages of a topic nothing is unusual."""
SCHEMALESS = {"value.converter.schemas.enable": "false"}


@pytest.fixture
def learnt(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each job that has failed: whether that was because of such a value."""
    found: list[bool] = []
    own = jobs.SinkJobs.learn_from

    def learn_from(self: jobs.SinkJobs, error: Exception) -> bool:
        found.append(own(self, error))
        return found[-1]

    monkeypatch.setattr(jobs.SinkJobs, "learn_from", learn_from)
    return found


def test_a_value_that_is_not_parsed_is_written_with_the_others(run_here: Run, tables: Lake, learnt: list[bool]) -> None:
    """A bad record is the only one that is not."""
    topic = tables.topic(*FIRST, record(id=150, name="x").replace("150", "150.0"), None, "{oops")
    report = run_here(tables.config(topic, **{"errors.tolerance": "all"}))
    assert report.records == {"read": 153, "written": 151, "filtered": 1, "dead_lettered": 1}
    assert sorted(row.id for row in tables.rows(topic)) == list(range(151))
    assert learnt == [True]


def test_tables_that_had_the_plan_before_such_a_value_was_found_are_compared_and_counted_once(
    run_here: Run, tables: Lake, tmp_path: Path, learnt: list[bool]
) -> None:
    topics = sorted(tables.topic(*FIRST) for _ in range(2))
    tables.add(topics[1], record(id=150, name="x").replace("150", "150.0"))
    name = f"delta.`{tmp_path}/${{topic}}`"
    report = run_here(tables.config(*topics, **{"table.format": "delta", "table.name.format": name}))
    assert report.records == {"read": 301, "written": 301, "filtered": 0, "dead_lettered": 0}
    counts = [tables.spark.table(name.replace("${topic}", topic)).count() for topic in topics]
    assert counts == [150, 151] and learnt == [True]


@pytest.mark.exhaustive  # Delta's, whose first write stays visible, are in `delta/test_runs.py`
def test_shapes_that_come_later_are_learnt(run_here: Run, tables: Lake) -> None:
    topic = tables.topic(*FIRST, record(id=150, note="x"), record(id=151, name="y"))
    config = tables.config(topic, **{"auto.evolve": "true"})
    assert run_here(config).records["written"] == 152
    assert [row.note for row in tables.rows(topic, "id", "note") if row.id >= 150] == ["x", None]


def test_a_required_field_without_a_value_is_a_bad_record(run_here: Run, tables: Lake) -> None:
    envelope = {"type": "struct", "fields": [{"field": "id", "type": "int64"}]}
    values = [json.dumps({"schema": envelope, "payload": {"id": n}}) for n in (1, 2, None)]
    report = run_here(tables.config(tables.topic(*values), **{"errors.tolerance": "all"}))
    assert report.records["written"] == 2 and report.records["dead_lettered"] == 1


def objects(count: int) -> list[str]:
    return [json.dumps({"id": n, "size": n / 4, "at": "2024-02-29", "place": {"x": [n]}}) for n in range(count)]


def test_objects_without_schemas_are_read_as_the_columns_of_their_table(
    run_here: Run, tables: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes: list[bool] = []

    def rows_of(frame: RecordFrame, *more: Any) -> DataFrame:
        shapes.append(frame.value.shapes[0].schemaless)
        return rows.rows_of(frame, *more)

    monkeypatch.setattr(f"{writing.__name__}.rows_of", rows_of)
    topic = tables.topic(*objects(3))
    config = tables.config(topic, **SCHEMALESS)
    run_here(config)
    tables.spark.sql(
        f"CREATE TABLE {tables.namespace}.other (id INT, at DATE, place STRUCT<x: ARRAY<INT>>) USING iceberg"
    )
    other = {"table.name.format": f"{tables.namespace}.other", f"{SCHEMA_CHANGE}.add": "ignore"}
    run_here({**config, "name": f"{config['name']}-2", **other})
    assert shapes == [False, False]
    assert [row.asDict(recursive=True) for row in tables.rows(topic)] == [
        {"id": n, "size": n / 4, "at": "2024-02-29", "place": {"x": [n]}} for n in range(3)
    ]
    day = datetime.date(2024, 2, 29)
    assert [tuple(row) for row in tables.rows("other", "id", "at", "place.x")] == [(n, day, [n]) for n in range(3)]


def test_objects_that_do_not_fit_are_looked_at_one_by_one(run_here: Run, tables: Lake) -> None:
    topic = tables.topic(*objects(2), '{"id": 2, "note": "x"}')
    config = tables.config(topic, **SCHEMALESS, **{"auto.evolve": "true"})
    assert run_here(config).records["written"] == 3
    tables.add(topic, *objects(120), '{"id": 200}', '{"id": 201, "new": 1}', '{"id": 1.5}')
    report = run_here({**config, "errors.tolerance": "all"})
    assert (report.records["written"], report.records["dead_lettered"]) == (122, 1)
    found = [tuple(row) for row in tables.rows(topic, "id", "note", "new") if row.id > 119 or row.note]
    assert found == [(2, "x", None), (200, None, None), (201, None, 1)]
