"""How far connectors have moved, in a real config topic."""

from __future__ import annotations

import pytest

from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.stores.handovers import Handover, HandoverRecords
from airflow_kconnect.stores.target_states import TargetState, TargetStates
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique
from tests.support.kafka import produce


@pytest.fixture
def worker(bootstrap: str) -> WorkerConfig:
    """A worker whose config topic does not exist."""
    return WorkerConfig.from_props({"bootstrap.servers": bootstrap, "config.storage.topic": unique("configs")})


def test_without_a_topic_nothing_has_moved(worker: WorkerConfig, bootstrap: str) -> None:
    assert HandoverRecords(worker).read("c") is None
    assert KafkaAdmin({"bootstrap.servers": bootstrap}).partitions(worker.config_topic) == 0


def test_the_last_record_counts(worker: WorkerConfig) -> None:
    records = HandoverRecords(worker)
    records.write("c", Handover.ARRIVING)
    records.write("c", Handover.HERE)
    assert (records.read("c"), HandoverRecords(worker).read("c")) == (Handover.HERE, Handover.HERE)


def test_target_states_live_in_the_same_topic(worker: WorkerConfig) -> None:
    HandoverRecords(worker).write("c", Handover.HERE)
    TargetStates(worker).write("c", TargetState.PAUSED)
    assert (HandoverRecords(worker).read("c"), TargetStates(worker).read("c")) == (Handover.HERE, TargetState.PAUSED)


def test_a_record_that_cannot_be_read_is_ignored(worker: WorkerConfig, bootstrap: str) -> None:
    records = HandoverRecords(worker)
    records.write("c", Handover.HERE)
    produce(bootstrap, worker.config_topic, ['{"handover":"GONE"}', "no JSON"], key="kconnect-handover-c")
    assert records.read("c") is Handover.HERE


def test_connectors_of_a_connect_cluster_are_seen(worker: WorkerConfig, bootstrap: str) -> None:
    records = HandoverRecords(worker)
    records.write("x", Handover.HERE)
    produce(bootstrap, worker.config_topic, ['{"properties":{}}'], key="connector-a")
    produce(bootstrap, worker.config_topic, ['{"properties":{}}', None], key="connector-b")
    assert records.connectors_of_connect() == {"a"}
