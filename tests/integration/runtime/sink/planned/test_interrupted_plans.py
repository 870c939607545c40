"""A run of a table sink that ends at any step: what the next one makes of its plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka.admin import AdminClient

from airflow_kconnect.connect.errors import DataError, FencedError
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.producers import TransactionalProducer
from airflow_kconnect.runtime.sink import planned
from airflow_kconnect.stores.sink_plans import SinkPlans
from airflow_kconnect.stores.sink_positions import SinkPositions
from airflow_kconnect.stores.transactional_ids import driver_id
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.integration.runtime.conftest import Run
from tests.integration.runtime.sink.planned.conftest import Lake, record
from tests.support import kill_points, unique
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


class LakeTable:
    """A sink with a topic of two partitions, and its table."""

    def __init__(self, tables: Lake) -> None:
        self._tables, self.topic = tables, tables.topic(partitions=2)
        self._config = tables.config(self.topic)
        self.name = self._config["name"]

    def config(self, **more: str) -> dict[str, str]:
        return {**self._config, **more}

    def add(self, first: int, last: int) -> None:
        """`first` is the first number, `last` the one after the last."""
        values = [record(n=n) for n in range(first, last)]
        half = len(values) // 2
        self._tables.add(self.topic, *values[:half], partition=0)
        self._tables.add(self.topic, *values[half:], partition=1)

    def rows(self) -> Counter[int]:
        return Counter(row.n for row in self._tables.rows(self.topic, "n"))


@pytest.fixture
def target(tables: Lake) -> LakeTable:
    return LakeTable(tables)


# Before the announcement Kafka and the table have what they have after the last write. A plan that is visible is in the
# next test, and as a merge in `connectors/table/changes/test_runs.py`.
@pytest.mark.parametrize(
    "step",
    kill_points([(step,) for step in STEPS], always=("after-last-write", "before-visible", "after-final-commit")),
)
def test_a_run_that_ends_at_any_step_neither_loses_nor_doubles(run_here: Run, target: LakeTable, step: str) -> None:
    target.add(0, 100)
    with ending_at(step):
        run_here(target.config())
    target.add(100, 150)
    report = run_here(target.config())
    assert target.rows() == Counter(range(150))
    if step == "after-visible":  # what was published before is not counted again
        assert (report.records["written"], report.notes["completed_plans"]) == (50, 1)


def test_dead_letters_of_a_plan_that_was_published_are_written(run_here: Run, target: LakeTable, tables: Lake) -> None:
    letters = {"errors.tolerance": "all", "errors.deadletterqueue.topic.name": tables.topic()}
    target.add(0, 100)
    tables.add(target.topic, "{oops", partition=0)
    with ending_at("after-visible"):
        run_here(target.config(**letters))
    report = run_here(target.config(**letters))
    assert (report.records["written"], report.records["dead_lettered"]) == (0, 1)
    assert target.rows() == Counter(range(100))


def test_a_plan_is_dropped_if_offsets_were_altered_since_it_was_announced(
    run_here: Run, target: LakeTable, bootstrap: str
) -> None:
    target.add(0, 100)
    with ending_at("before-visible"):
        run_here(target.config())
    commit(bootstrap, f"connect-{target.name}", {(target.topic, 0): 10})
    report = run_here(target.config())
    assert any("is not completed" in warning for warning in report.warnings)


def test_a_plan_that_can_no_longer_be_read_ends_the_run(run_here: Run, target: LakeTable, bootstrap: str) -> None:
    from confluent_kafka import TopicPartition as Place

    target.add(0, 100)
    with ending_at("before-visible"):
        run_here(target.config())
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.delete_records([Place(target.topic, 0, 10)]).values():
        future.result(30)
    with pytest.raises(DataError, match="announced offsets 0 to 49"):
        run_here(target.config(**{"consumer.override.auto.offset.reset": "earliest"}))


def test_an_older_run_cannot_announce(worker_props: dict[str, str]) -> None:
    name = unique("lake")
    worker = WorkerConfig.from_props(worker_props)
    clients = ClientConfigs(worker_props)
    admin = GroupAdmin(clients.admin())
    producer = TransactionalProducer(clients.producer(driver_id("group", name)), "older")
    positions = SinkPositions(clients, worker, admin, f"connect-{name}")
    positions.ensure_topic()
    plans = SinkPlans(clients, admin, worker.offset_topic, f"connect-{name}", name, positions)
    plans.read()
    plans.begin(producer, [], {})
    newer = TransactionalProducer(clients.producer(driver_id("group", name)), "newer")
    try:
        with pytest.raises(FencedError):
            plans.announce(producer, ["t"], {})
    finally:
        newer.close()
        producer.close()
