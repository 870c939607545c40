"""A run of a table sink that ends at any step: what the next one makes of its plan."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import DataError, FencedError
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.producers import TransactionalProducer
from airflow_kconnect.runtime.sink import planned
from airflow_kconnect.stores.sink_plans import SinkPlans
from airflow_kconnect.stores.sink_positions import SinkPositions
from airflow_kconnect.stores.transactional_ids import driver_id
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.integration.runtime.conftest import STRING, Run
from tests.support import unique
from tests.support.kafka import create_topic, produce
from tests.support.positions import commit

STEPS = (
    "after-last-write",
    "before-announcement",
    "before-visible",
    "after-visible",
    "after-final-commit",
)


class Interrupted(BaseException):
    """As if the process had ended here, but for what it closes on its way."""


@contextmanager
def ending_at(step: str) -> Iterator[None]:
    """The run ends when it reaches a failpoint for the first time."""

    def at(name: str) -> None:
        if name == step:
            raise Interrupted

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planned, "failpoint", at)
        with pytest.raises(Interrupted):
            yield


def numbers(first: int, last: int) -> list[str]:
    """Records with a schema; `first` is the first number, `last` the one after the last."""
    schema = {"type": "struct", "fields": [{"field": "n", "type": "int64"}]}
    return [json.dumps({"schema": schema, "payload": {"n": n}}) for n in range(first, last)]


class LakeTable:
    """A table sink with a topic and a table of its own."""

    def __init__(self, spark: SparkSession, bootstrap: str, catalog: str) -> None:
        self._spark, self.bootstrap = spark, bootstrap
        self.topic = create_topic(bootstrap, unique("numbers"), 2)
        self.name = unique("lake")
        self.table = f"{catalog}.db.{self.name.replace('-', '_')}"

    def config(self, **more: str) -> dict[str, str]:
        return {
            "name": self.name,
            "connector.class": "SparkTableSink",
            "topics": self.topic,
            "table.format": "iceberg",
            "table.name.format": self.table,
            "auto.create": "true",
            "key.converter": STRING,
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            **more,
        }

    def add(self, first: int, last: int) -> None:
        half = (first + last) // 2
        produce(self.bootstrap, self.topic, numbers(first, half), partition=0)
        produce(self.bootstrap, self.topic, numbers(half, last), partition=1)

    def rows(self) -> Counter[int]:
        return Counter(row.n for row in self._spark.table(self.table).select("n").collect())


@pytest.fixture
def target(spark: SparkSession, bootstrap: str, lake: str) -> LakeTable:
    return LakeTable(spark, bootstrap, lake)


@pytest.mark.parametrize("step", STEPS)
def test_a_run_that_ends_at_any_step_neither_loses_nor_doubles(run_here: Run, target: LakeTable, step: str) -> None:
    target.add(0, 100)
    with ending_at(step):
        run_here(target.config())
    target.add(100, 150)
    report = run_here(target.config())
    assert target.rows() == Counter(range(150))
    if step == "after-visible":  # what was published before is not counted again
        assert (report.records["written"], report.notes["completed_plans"]) == (50, 1)


def test_dead_letters_of_a_plan_that_was_published_are_written(
    run_here: Run, target: LakeTable, topic: Callable[..., str]
) -> None:
    letters = {"errors.tolerance": "all", "errors.deadletterqueue.topic.name": topic()}
    target.add(0, 100)
    produce(target.bootstrap, target.topic, ["{oops"], partition=0)
    with ending_at("after-visible"):
        run_here(target.config(**letters))
    assert run_here(target.config(**letters)).records["dead_lettered"] == 1


def test_a_plan_is_dropped_if_offsets_were_altered_since_it_was_announced(run_here: Run, target: LakeTable) -> None:
    target.add(0, 100)
    run_here(target.config())
    target.add(100, 150)
    with ending_at("before-visible"):
        run_here(target.config())
    commit(target.bootstrap, f"connect-{target.name}", {(target.topic, 0): 60})
    report = run_here(target.config())
    assert any("is not completed" in warning for warning in report.warnings)


def test_a_plan_that_can_no_longer_be_read_ends_the_run(run_here: Run, target: LakeTable) -> None:
    from confluent_kafka import TopicPartition as Place

    target.add(0, 100)
    with ending_at("before-visible"):
        run_here(target.config())
    admin = AdminClient({"bootstrap.servers": target.bootstrap})
    for future in admin.delete_records([Place(target.topic, 0, 10)]).values():
        future.result(30)
    with pytest.raises(DataError, match="announced offsets 0 to 49"):
        run_here(target.config(**{"consumer.override.auto.offset.reset": "earliest"}))


def test_an_older_run_cannot_announce(bootstrap: str, worker_props: dict[str, str], target: LakeTable) -> None:
    worker = WorkerConfig.from_props(worker_props)
    clients = ClientConfigs(worker_props)
    admin = GroupAdmin(clients.admin())
    producer = TransactionalProducer(clients.producer(driver_id("group", target.name)), "older")
    positions = SinkPositions(clients, worker, admin, f"connect-{target.name}")
    positions.ensure_topic()
    plans = SinkPlans(clients, admin, worker.offset_topic, f"connect-{target.name}", target.name, positions)
    plans.read()
    plans.begin(producer, [], {})
    newer = TransactionalProducer(clients.producer(driver_id("group", target.name)), "newer")
    try:
        with pytest.raises(FencedError):
            plans.announce(producer, ["t"], {})
    finally:
        newer.close()
        producer.close()
