"""What becomes of a plan that a sink has announced when offsets are altered, reset or handed over."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.producers import TransactionalProducer
from airflow_kconnect.stores.sink_plans import PlanState, SinkPlans
from airflow_kconnect.stores.sink_positions import SinkPositions
from airflow_kconnect.stores.transactional_ids import driver_id
from airflow_kconnect.submit.operations import show_offsets
from tests.integration.stores.offset_changes.test_api import ALTERED, RESET, Connector, entry, place
from tests.support import unique
from tests.support.kafka import produce


class PlannedSink(Connector):
    """A stopped sink of ten records, whose run has ended after it has announced offsets 2 to 6 to a table."""

    def announce(self, topic: str) -> None:
        with self.plans() as (plans, producer, positions):
            positions.ensure_topic()
            positions.look_up([topic])
            reached = {TopicPartition(topic, 0): 2}
            plans.read()
            plans.begin(producer, [SinkSplit(topic, 0, 2, 6)], reached)
            plans.announce(producer, ["lake.db.orders"], reached)

    def state(self) -> PlanState:
        with self.plans() as (plans, _, _):
            return plans.read()

    def plans(self) -> _Plans:
        return _Plans(self)


class _Plans:
    def __init__(self, sink: PlannedSink) -> None:
        self._sink = sink

    def __enter__(self) -> tuple[SinkPlans, TransactionalProducer, SinkPositions]:
        sink, group = self._sink, f"connect-{self._sink.name}"
        admin = GroupAdmin(sink.clients.admin())
        positions = SinkPositions(sink.clients, sink.worker, admin, group)
        plans = SinkPlans(sink.clients, admin, sink.worker.offset_topic, group, sink.name, positions)
        config = sink.clients.producer(driver_id(sink.worker.group_id, sink.name))
        self._producer = TransactionalProducer(config, "test")
        return plans, self._producer, positions

    def __exit__(self, *_: object) -> None:
        self._producer.close()


@pytest.fixture
def name_of_topic(topic: Callable[..., str], bootstrap: str) -> str:
    name = topic()
    produce(bootstrap, name, [str(n) for n in range(10)])
    return name


@pytest.fixture
def sink(name_of_topic: str, worker_props: dict[str, str]) -> Iterator[PlannedSink]:
    config = {
        "name": unique("lake"),
        "connector.class": "SparkTableSink",
        "topics": name_of_topic,
        "table.format": "iceberg",
    }
    connector = PlannedSink(config, worker_props)
    connector.announce(name_of_topic)
    yield connector


def test_altered_offsets_drop_it_and_say_so(sink: PlannedSink, name_of_topic: str) -> None:
    told = sink.alter(entry(place(name_of_topic), {"kafka_offset": 4}))

    assert told == (
        f"{ALTERED}. Plan 1 ({name_of_topic}-0 from 2 to 6) was announced to lake.db.orders by a run that has not"
        " finished it; it is dropped. What the tables have of it stays there: records that are read again are written"
        " again"
    )
    state = sink.state()
    assert (state.ranges, state.announced, state.accepted) == ((), (), True)


def test_offsets_that_are_set_to_its_beginning_keep_it(sink: PlannedSink, name_of_topic: str) -> None:
    assert sink.alter(entry(place(name_of_topic), {"kafka_offset": 2})) == ALTERED
    state = sink.state()
    assert (state.number, state.announced, state.accepted) == (1, ("lake.db.orders",), True)


def test_a_reset_drops_it_and_no_table_has_the_next_number(sink: PlannedSink) -> None:
    before, now = sink.state(), int(time.time())
    assert sink.reset().startswith(f"{RESET}. Plan 1 (")
    after = sink.state()
    assert after == PlanState(before.application, after.number, accepted=True)
    assert after.number >= now


def test_altered_offsets_say_that_tables_have_what_they_have(sink: PlannedSink, name_of_topic: str) -> None:
    with sink.plans() as (plans, producer, positions):
        positions.look_up([name_of_topic])
        plans.read()
        plans.finish(producer, {TopicPartition(name_of_topic, 0): 6})
    assert sink.state().taken == {"lake.db.orders": 1}
    sink.alter(entry(place(name_of_topic), {"kafka_offset": 6}))
    assert sink.state().taken == {} and sink.state().accepted


def test_a_connector_is_not_handed_over_before_it_is_finished(sink: PlannedSink) -> None:
    with pytest.raises(DataError, match=r"plan 1 .* was announced to lake\.db\.orders by a run that has not finished"):
        sink.settle()


def test_offsets_are_shown_as_those_of_any_sink(sink: PlannedSink, name_of_topic: str) -> None:
    expected = [{"partition": place(name_of_topic), "offset": {"kafka_offset": 2}}]
    assert sink.read() == expected
    assert show_offsets(sink.name, sink.worker.props) == expected
