"""Plans for values that are parsed where they are read; a value that is not makes the run write with another one."""

from __future__ import annotations

import json

import pytest

from airflow_kconnect.runtime.sink import jobs
from tests.integration.runtime.conftest import Run
from tests.integration.runtime.sink.planned.conftest import Lake, record

FIRST = [record(id=n, name=f"n{n}") for n in range(150)]
"""Among the first messages of a topic nothing is unusual."""


def test_a_value_that_is_not_parsed_is_written_with_the_others(
    run_here: Run, tables: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt: list[bool] = []
    own = jobs.SinkJobs.learn_from

    def learn_from(self: jobs.SinkJobs, error: Exception) -> bool:
        learnt.append(own(self, error))
        return learnt[-1]

    monkeypatch.setattr(jobs.SinkJobs, "learn_from", learn_from)
    topic = tables.topic(*FIRST, record(id=150, name="x").replace("150", "150.0"), None)
    assert run_here(tables.config(topic)).records["written"] == 151
    assert sorted(row.id for row in tables.rows(topic)) == list(range(151))
    assert learnt == [True]


def test_a_bad_record_among_them_is_the_only_one_that_is_not_written(run_here: Run, tables: Lake) -> None:
    topic = tables.topic(*FIRST, "{oops", record(id=1, name="x"))
    report = run_here(tables.config(topic, **{"errors.tolerance": "all"}))
    assert report.records["written"] == 151 and report.records["dead_lettered"] == 1
    assert len(tables.rows(topic)) == 151


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
