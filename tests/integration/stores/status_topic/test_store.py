"""A status topic written and read by us."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.partitions import partition_of
from airflow_kconnect.stores.status_topic.records import ConnectorKey, State, Status, TaskKey, TopicStatus
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunRecord, RunState
from airflow_kconnect.stores.status_topic.state import ConnectorStatus
from airflow_kconnect.stores.status_topic.store import StatusStore
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique
from tests.support.connect.records import put_runs, put_status, put_topic
from tests.support.kafka import create_topic, eventually, produce, read_all

Stores = Callable[..., StatusStore]

RUNNING, FAILED = State.RUNNING, State.FAILED
C, C0, C1 = ConnectorKey("c"), TaskKey("c", 0), TaskKey("c", 1)
TOPIC = TopicStatus("t", "c", 0, 1)
RUNS = ConnectorRuns(kind="sink", runs=(RunRecord("r", RunState.SUCCESS, 1, 2),))


@pytest.fixture
def worker(bootstrap: str) -> WorkerConfig:
    """A worker group whose status topic does not exist."""
    props = {"bootstrap.servers": bootstrap, "status.storage.topic": unique("status")}
    return WorkerConfig.from_props(props)


@pytest.fixture
def store() -> Iterator[Stores]:
    """Makes stores, which are closed when the test ends."""
    opened: list[StatusStore] = []

    def open_one(worker: WorkerConfig, *, follow: bool = False) -> StatusStore:
        opened.append(StatusStore(worker, follow=follow))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.mark.parametrize("follow", [True, False])
def test_what_was_written_is_read(store: Stores, worker: WorkerConfig, follow: bool) -> None:
    mine = store(worker, follow=follow)
    put_status(mine, C, Status(RUNNING, "w", 1, None, "1.0"))
    put_status(mine, C0, Status(FAILED, "w", 1, "why"))
    put_topic(mine, TOPIC)
    put_runs(mine, "c", RUNS)
    mine.refresh()
    assert (mine.runs("c"), mine.all_runs()) == (RUNS, {"c": RUNS})
    wanted = ConnectorStatus(Status(RUNNING, "w", 1, None, "1.0"), {0: Status(FAILED, "w", 1, "why")}, {"t": TOPIC})
    assert mine.connectors() == {"c": wanted}


def test_the_topic_is_made_as_connect_makes_it(store: Stores, worker: WorkerConfig, bootstrap: str) -> None:
    put_status(store(worker), C, Status(RUNNING, "w", 1))
    admin = KafkaAdmin({"bootstrap.servers": bootstrap})
    found = admin.partitions(worker.status_topic), admin.setting(worker.status_topic, "cleanup.policy")
    assert found == (5, "compact")


def test_records_are_where_java_looks_for_them(store: Stores, worker: WorkerConfig, bootstrap: str) -> None:
    put_status(store(worker), C1, Status(RUNNING, "w", 1))
    (record,) = read_all(bootstrap, worker.status_topic)
    assert (record.key, record.partition) == (b"status-task-c-1", partition_of(b"status-task-c-1", 5))


def test_removing_leaves_nothing(store: Stores, worker: WorkerConfig) -> None:
    mine = store(worker)
    for key in (C, C0, C1):
        put_status(mine, key, Status(RUNNING, "w", 1))
    put_topic(mine, TOPIC)
    put_runs(mine, "c", RUNS)
    mine.remove("c")
    mine.refresh()
    assert (mine.connectors(), mine.all_runs()) == ({}, {})


def test_topics_can_be_reset(store: Stores, worker: WorkerConfig) -> None:
    mine = store(worker)
    put_status(mine, C, Status(RUNNING, "w", 1))
    put_topic(mine, TOPIC)
    mine.reset_topics("c")
    mine.refresh()
    assert mine.connector("c") == ConnectorStatus(Status(RUNNING, "w", 1))


def test_what_others_write_arrives_by_itself(store: Stores, worker: WorkerConfig) -> None:
    mine = store(worker, follow=True)
    mine.refresh()
    put_status(store(worker), C, Status(RUNNING, "w", 1))
    wanted = ConnectorStatus(Status(RUNNING, "w", 1))
    assert eventually(lambda: mine.connector("c"), wanted) == wanted


def test_garbage_of_others_is_skipped(store: Stores, worker: WorkerConfig, bootstrap: str) -> None:
    mine = store(worker)
    put_status(mine, C, Status(RUNNING, "w", 1))
    produce(bootstrap, worker.status_topic, ["no JSON"], key="status-connector-c")
    mine.refresh()
    assert mine.connector("c").status == Status(RUNNING, "w", 1)


def test_a_topic_that_is_not_compacted_is_refused(store: Stores, worker: WorkerConfig, bootstrap: str) -> None:
    create_topic(bootstrap, worker.status_topic)
    with pytest.raises(ConfigError, match=r"cleanup.policy=delete"):
        put_status(store(worker), C, Status(RUNNING, "w", 1))
