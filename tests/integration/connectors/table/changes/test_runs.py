"""Kafka to keyed tables: random changes, in all forms in which they are written, leave the rows that they should.

A run with a merge of Spark costs some CPU seconds: in CI there is one for each format; `test_changes` has each form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connectors.table.sink import SparkTableSinkConnector
from airflow_kconnect.runs.report import RunReport
from tests.integration.runtime.conftest import Run
from tests.integration.runtime.conftest import run_here as run_here
from tests.integration.runtime.sink.planned.test_interrupted_plans import STEPS, ending_at
from tests.support import kill_points, unique
from tests.support.changes import ChangedTable, Message, Style, send

pytestmark = pytest.mark.usefixtures("lake")

JSON = "org.apache.kafka.connect.json.JsonConverter"
PARTITIONS = 2
BY_KEY = {"pk.mode": "record_key"}
BY_VALUE = {"pk.mode": "record_value", "pk.fields": "id"}
FORMS: dict[str, tuple[Style, dict[str, str]]] = {
    "rows": ("rows", BY_KEY),
    "envelopes": ("envelopes", BY_KEY),
    "envelopes by value": ("envelopes", BY_VALUE),
    "unwrapped": (
        "envelopes",
        {
            **BY_VALUE,
            "transforms": "unwrap",
            "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
            "transforms.unwrap.delete.tombstone.handling.mode": "rewrite",
        },
    ),
    "operations": ("operations", {**BY_VALUE, "table.cdc.field": "_cdc.op"}),
}


class Changed:
    """One sink, its topic, its table, and what the table should have."""

    def __init__(
        self, spark: SparkSession, bootstrap: str, topic: str, table_format: str, form: str, seed: int, folder: Path
    ) -> None:
        self._spark, self._bootstrap, self.topic = spark, bootstrap, topic
        self._style, keys = FORMS[form]
        name = "lake.`changes`.`{}`" if table_format == "iceberg" else f"delta.`{folder}/{{}}`"
        self.table = name.format(topic)
        self.model = ChangedTable(seed)
        self.config = {
            "name": unique("sink"),
            "connector.class": "SparkTableSink",
            "topics": topic,
            "table.format": table_format,
            "table.name.format": name.format("${topic}"),
            "auto.create": "true",
            "insert.mode": "upsert",
            "delete.enabled": "true",
            "key.converter": JSON,
            "value.converter": JSON,
            **keys,
        }

    def change(self, count: int) -> int:
        """Write random changes to the topic: those of a key to one partition. Returns how many messages there are."""
        messages = list(self._messages(count))
        send(self._bootstrap, self.topic, iter(messages))
        return len(messages)

    def _messages(self, count: int) -> Iterator[tuple[int, Message]]:
        for change in self.model.changes(count):
            for each in change.messages(self._style):
                yield change.key % PARTITIONS, each

    @property
    def columns(self) -> list[str]:
        return self._spark.table(self.table).columns

    def found(self) -> list[tuple[Any, ...]]:
        """The table's rows."""
        return [
            tuple(row) for row in self._spark.table(self.table).select("id", "name", "size").orderBy("id").collect()
        ]


Paths = Callable[..., Changed]


@pytest.fixture
def path(spark: SparkSession, bootstrap: str, topic: Callable[..., str], tmp_path: Path) -> Paths:
    def new(table_format: str, form: str, seed: int = 1) -> Changed:
        return Changed(spark, bootstrap, topic(PARTITIONS, "items"), table_format, form, seed, tmp_path)

    return new


def in_plans_of(monkeypatch: pytest.MonkeyPatch, records: int) -> None:
    monkeypatch.setattr(SparkTableSinkConnector, "plan_records", records)


def ways(*always: tuple[str, str]) -> list[Any]:
    """Format and form: not all of them are in CI."""
    every = [(table_format, form) for table_format in ("iceberg", "delta") for form in FORMS]
    return [pytest.param(*way, marks=() if way in always else pytest.mark.exhaustive) for way in every]


@pytest.mark.parametrize(("table_format", "form"), ways(("iceberg", "envelopes"), ("delta", "rows")))
def test_random_changes_leave_the_rows_that_they_should(
    table_format: str, form: str, path: Paths, run_here: Run
) -> None:
    _is_as_expected_after_runs(path(table_format, form), run_here, [60, 40])


def _is_as_expected_after_runs(changed: Changed, run_here: Run, counts: list[int]) -> None:
    for count in counts:
        messages = changed.change(count)
        report = run_here(changed.config)
        assert report.records["written"] + report.records["filtered"] == messages
        assert report.guarantee == "exactly_once"
        assert changed.found() == changed.model.expected
    assert {"before", "after", "__deleted"}.isdisjoint(changed.columns)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(30))
def test_many_random_changes(seed: int, path: Paths, run_here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    in_plans_of(monkeypatch, 40)
    changed = path(["iceberg", "delta"][seed % 2], list(FORMS)[seed % len(FORMS)], seed)
    _is_as_expected_after_runs(changed, run_here, [30, 90, 10])


@pytest.mark.parametrize("table_format", ["iceberg", pytest.param("delta", marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("point", kill_points([(step,) for step in STEPS], always=("after-visible",)))
def test_a_merge_is_repeated_or_not_but_never_half(point: str, table_format: str, path: Paths, run_here: Run) -> None:
    """A run ends between the table and the positions. What comes after the plan must not be overwritten by it."""
    changed = path(table_format, "rows")
    changed.change(30)
    run_here(changed.config)
    changed.change(30)
    with ending_at(point):
        run_here(changed.config)
    changed.change(30)
    report = run_here(changed.config)
    assert changed.found() == changed.model.expected
    if point == "after-visible":
        assert report.notes["completed_plans"] == 1


def test_records_that_are_no_changes_are_only_counted(path: Paths, run_here: Run, bootstrap: str) -> None:
    """Not even the table is created for them."""
    changed = path("iceberg", "rows")
    send(bootstrap, changed.topic, iter([(0, (None, None)), (0, (None, None))]))
    report: RunReport = run_here({**changed.config, "delete.enabled": "false"})
    assert (report.records["written"], report.records["filtered"]) == (0, 2)
