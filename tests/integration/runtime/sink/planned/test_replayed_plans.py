"""Intervals that are replayed into lake tables: rows are replaced and not doubled, and newer ones stay."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.runs.warnings import Kind
from airflow_kconnect.stores.sink_plans import plans_of_all
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.integration.runtime.conftest import STRING, Run
from tests.integration.runtime.sink.planned.test_interrupted_plans import ending_at
from tests.support import unique

MIDNIGHT = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000)
HOUR = 3_600_000
COORDINATES = {"table.metadata.columns": "topic,partition,offset"}
UPSERT = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id"}
FIRST_HOUR = (MIDNIGHT, MIDNIGHT + HOUR)


class Hourly:
    """A topic of two hours, and a sink of it into a table of a format.

    The records of the second hour have the ids 2 to 5, those of the first one 0 to 3.
    """

    def __init__(self, spark: SparkSession, bootstrap: str, topic: str, keys: dict[str, str]) -> None:
        self._spark, self._bootstrap = spark, bootstrap
        self.config = {
            "name": unique("sink"),
            "connector.class": "SparkTableSink",
            "topics": topic,
            "auto.create": "true",
            "key.converter": STRING,
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            **keys,
        }
        self.send(0, {n: f"first {n}" for n in range(4)})
        self.send(1, {n: f"second {n}" for n in range(2, 6)})

    def send(self, hour: int, texts: dict[int, str]) -> None:
        fields = [{"field": "id", "type": "int64"}, {"field": "text", "type": "string"}]
        producer = Producer({"bootstrap.servers": self._bootstrap})
        for n, text in texts.items():
            value = json.dumps({"schema": {"type": "struct", "fields": fields}, "payload": {"id": n, "text": text}})
            at = MIDNIGHT + hour * HOUR + n
            headers = [("marked", b"")] if text == "first 1" else []
            producer.produce(self.config["topics"], value, str(n), partition=0, timestamp=at, headers=headers)
        assert producer.flush(30) == 0

    def rows(self) -> list[tuple[int, str]]:
        found = self._spark.table(self._table).select("id", "text").collect()
        return sorted((row.id, row.text) for row in found)

    def table_properties(self) -> list[str]:
        return [row.key for row in self._spark.sql(f"SHOW TBLPROPERTIES {self._table}").collect()]

    @property
    def _table(self) -> str:
        topic, name = self.config["topics"], self.config["table.name.format"]
        if catalog := self.config.get("table.catalog"):
            topic, name = f"`{topic}`", f"{catalog}.{name}"
        return name.replace("${topic}", topic)


@pytest.fixture(params=["iceberg", pytest.param("delta", marks=pytest.mark.exhaustive)])
def hourly(
    request: pytest.FixtureRequest,
    spark: SparkSession,
    lake: str,
    bootstrap: str,
    topic: Callable[..., str],
    tmp_path: Path,
) -> Callable[..., Hourly]:
    def make(**keys: str) -> Hourly:
        place = {"table.format": "iceberg", "table.catalog": lake, "table.name.format": f"{unique('db')}.${{topic}}"}
        if request.param == "delta":
            place = {"table.format": "delta", "table.name.format": f"delta.`{tmp_path}/${{topic}}`"}
        place["table.name.format"] = place["table.name.format"].replace("-", "_")
        name = topic(config={"retention.ms": "-1"}, prefix="hourly_")
        return Hourly(spark, bootstrap, name, {**place, **keys})

    return make


WITHOUT_MARKED = {
    "transforms": "filter",
    "transforms.filter.type": "org.apache.kafka.connect.transforms.Filter",
    "transforms.filter.predicate": "marked",
    "predicates": "marked",
    "predicates.marked.type": "org.apache.kafka.connect.transforms.predicates.HasHeaderKey",
    "predicates.marked.name": "marked",
}
"""A transformation that live runs did not have."""

BOTH = [*((n, f"first {n}") for n in range(4)), *((n, f"second {n}") for n in range(2, 6))]


def test_added_rows_of_the_interval_are_replaced_and_others_stay(run_here: Run, hourly: Callable[..., Hourly]) -> None:
    topic = hourly(**COORDINATES)
    run_here(topic.config)
    assert topic.rows() == sorted(BOTH)

    report = run_here({**topic.config, **WITHOUT_MARKED}, interval=Replay(*FIRST_HOUR, unique("key")))

    assert (report.records["written"], report.records["filtered"]) == (3, 1)
    assert topic.rows() == sorted(row for row in BOTH if row != (1, "first 1"))
    assert run_here(topic.config).records["read"] == 0


def test_an_older_row_does_not_replace_a_newer_one(run_here: Run, hourly: Callable[..., Hourly]) -> None:
    topic = hourly(**COORDINATES, **UPSERT)
    run_here(topic.config)
    newest = [(0, "first 0"), (1, "first 1"), *((n, f"second {n}") for n in range(2, 6))]
    assert topic.rows() == newest
    report = run_here(topic.config, interval=Replay(*FIRST_HOUR, unique("key")))
    assert topic.rows() == newest and Kind.TARGET not in report.warning_kinds


@pytest.mark.exhaustive
def test_without_coordinates_an_older_row_does_and_the_report_says_so(
    run_here: Run, hourly: Callable[..., Hourly]
) -> None:
    topic = hourly(**UPSERT)
    run_here(topic.config)
    report = run_here(topic.config, interval=Replay(*FIRST_HOUR, unique("key")))
    assert topic.rows() == [*((n, f"first {n}") for n in range(4)), (4, "second 4"), (5, "second 5")]
    assert Kind.TARGET in report.warning_kinds


def test_an_ended_replay_leaves_neither_a_property_nor_a_plan_in_kafka(
    run_here: Run, hourly: Callable[..., Hourly], spark: SparkSession, worker_props: dict[str, str]
) -> None:
    topic = hourly(**COORDINATES)
    if topic.config["table.format"] == "delta":
        pytest.skip("Delta has no way to remove the number of an application's last transaction")
    run_here(topic.config)
    before = _plan_properties(topic), _groups(topic, worker_props)
    with ending_at("after-final-commit"):
        run_here(topic.config, interval=Replay(*FIRST_HOUR, "key"))
    assert len(_plan_properties(topic)) == 2 and len(_groups(topic, worker_props)) == 2
    run_here(topic.config, interval=Replay(*FIRST_HOUR, "key"))
    assert (_plan_properties(topic), _groups(topic, worker_props)) == before
    assert run_here(topic.config, interval=Replay(*FIRST_HOUR, "key")).records["written"] == 0
    assert topic.rows() == sorted(BOTH)


def _plan_properties(topic: Hourly) -> list[str]:
    rows = topic.table_properties()
    return [name for name in rows if name.startswith("kconnect.plan.")]


def _groups(topic: Hourly, worker_props: dict[str, str]) -> list[str]:
    """Those of the connector that have plans."""
    clients = ClientConfigs(worker_props)
    topic_of_offsets = WorkerConfig.from_props(worker_props).offset_topic
    known = plans_of_all(clients, GroupAdmin(clients.admin()), topic_of_offsets)
    return [plan.group for plan in known if topic.config["name"] in plan.group]
