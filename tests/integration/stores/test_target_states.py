"""Target states in a config topic, as Connect reads and writes them. Its creation: `config_topic/test_store.py`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.stores.target_states import TargetState, TargetStates, encode_target_state
from airflow_kconnect.submit.group import not_started
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique
from tests.support.kafka import create_topic, produce, read_all

STARTED, PAUSED, STOPPED = TargetState.STARTED, TargetState.PAUSED, TargetState.STOPPED


@pytest.fixture
def worker(bootstrap: str) -> WorkerConfig:
    """A worker whose config topic does not exist."""
    topic = unique("configs")
    props = {"config.storage.topic": topic, "config.storage.replication.factor": "1"}
    return WorkerConfig.from_props({"bootstrap.servers": bootstrap, **props})


def _topic(worker: WorkerConfig) -> str:
    return str(worker.get("config.storage.topic"))


def _write(bootstrap: str, worker: WorkerConfig, *records: tuple[str, bytes | str | None]) -> None:
    """Make the topic, and write to it."""
    create_topic(bootstrap, _topic(worker), config={"cleanup.policy": "compact"})
    for key, value in records:
        produce(bootstrap, _topic(worker), [value], key=key)


class TestRead:
    def test_without_a_topic_which_is_not_made_everything_is_started_and_asked_again_it_sees_what_is_new(
        self, worker: WorkerConfig, bootstrap: str
    ) -> None:
        states = TargetStates(worker)
        assert states.read("c") is STARTED
        assert KafkaAdmin({"bootstrap.servers": bootstrap}).partitions(_topic(worker)) == 0
        _write(bootstrap, worker, *(("target-state-c", encode_target_state(state)) for state in (PAUSED, STOPPED)))
        assert states.read("c") is STOPPED

    def test_what_connect_has_written(self, worker: WorkerConfig, bootstrap: str) -> None:
        _write(
            bootstrap,
            worker,
            ("connector-a", '{"properties":{"name":"a"}}'),
            ("target-state-a", '{"state":"PAUSED","state.v2":"STOPPED"}'),
            ("target-state-old", '{"state":"PAUSED"}'),
            ("target-state-deleted", '{"state":"PAUSED","state.v2":"PAUSED"}'),
            ("target-state-deleted", None),
            ("target-state-a", "no JSON"),  # ignored: the record before counts
            ("session-key", "{}"),
        )
        assert TargetStates(worker).read_all() == {"a": STOPPED, "old": PAUSED}

    def test_a_topic_with_several_partitions_is_refused(self, bootstrap: str, topic: Callable[..., str]) -> None:
        keys = {"bootstrap.servers": bootstrap, "config.storage.topic": topic(partitions=2)}
        with pytest.raises(ConfigError, match="required to have a single partition"):
            TargetStates(WorkerConfig.from_props(keys)).read("c")


def test_the_bytes_that_are_written_are_connects(worker: WorkerConfig, bootstrap: str) -> None:
    TargetStates(worker).write("fs-1", STOPPED)
    (record,) = read_all(bootstrap, _topic(worker))
    assert (record.key, record.value) == (b"target-state-fs-1", b'{"state":"PAUSED","state.v2":"STOPPED"}')


def test_those_of_a_group_are_read_at_once(worker: WorkerConfig, bootstrap: str) -> None:
    states = (("target-state-a", PAUSED), ("target-state-b", STOPPED), ("target-state-c", STARTED))
    _write(bootstrap, worker, *((key, encode_target_state(state)) for key, state in states))
    props = {**worker.props, "status.storage.topic": ""}
    assert not_started(["a", "b", "c", "d"], props) == {"a": "PAUSED", "b": "STOPPED"}
