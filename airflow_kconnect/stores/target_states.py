"""Target states of connectors (started, paused, stopped), in Connect's records of the config topic."""

from __future__ import annotations

import json
import logging
from enum import Enum
from typing import Any

from airflow_kconnect.java_text.json import canonical_json
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log import CompactedLog, LogRecord
from airflow_kconnect.kafka.producers import FlushingProducer
from airflow_kconnect.stores.topics import check_config_topic, ensure_config_topic
from airflow_kconnect.worker_config.keys import WorkerConfig

log = logging.getLogger(__name__)

_KEY_PREFIX = "target-state-"


class TargetState(Enum):
    """What a user wants of a connector; what a run of it is doing is another matter."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


def target_state_key(connector: str) -> bytes:
    """Key of a connector's record."""
    return f"{_KEY_PREFIX}{connector}".encode()


def encode_target_state(state: TargetState) -> bytes:
    """Value of the record. Workers older than 3.5 do not know STOPPED and read only ``state``."""
    old = TargetState.PAUSED if state is TargetState.STOPPED else state
    return canonical_json({"state": old.value, "state.v2": state.value}).encode()


def decode_target_state(value: bytes) -> TargetState:
    """The state in a record's value, including one written by an older worker.

    :raises ValueError: there is none.
    """
    fields: Any = json.loads(value)
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    newer = fields.get("state.v2")
    return TargetState(fields.get("state") if newer is None else newer)


class TargetStates:
    """Reads and writes target states. Later calls read only what is new.

    :param worker: the worker whose ``config.storage.topic`` is used.
    :raises ConfigError: a setting in the worker's client configuration is not supported.
    """

    def __init__(self, worker: WorkerConfig) -> None:
        self._worker = worker
        self._topic = worker.config_topic
        self._clients = ClientConfigs(worker.props)
        self._admin = KafkaAdmin(self._clients.admin())
        self._log = CompactedLog(self._admin, self._clients.consumer(f"{worker.group_id}-configs"), self._topic)
        self._states: dict[str, TargetState] = {}
        self._topic_exists = False

    def read(self, connector: str) -> TargetState:
        """The state of a connector; STARTED if none is recorded, as in Connect.

        :raises ConfigError: the topic has several partitions, or reading it is not permitted.
        :raises RetriableError: the broker is unavailable.
        """
        return self.read_all().get(connector, TargetState.STARTED)

    def read_all(self) -> dict[str, TargetState]:
        """All recorded states. If there is no topic, which is not created then, this takes one request.

        :raises ConfigError, RetriableError: as `read`.
        """
        if not self._topic_exists:
            self._topic_exists = check_config_topic(self._topic, self._admin.check_reachable().get(self._topic, 0))
        if self._topic_exists:
            self._log.read([0], self._take, committed=True)
        return dict(self._states)

    def write(self, connector: str, state: TargetState) -> None:
        """Set the state of a connector; returns once it is durable. The topic is created if it is missing.

        :raises ConfigError: the topic is not what Connect needs, or writing it is not permitted.
        :raises RetriableError: the broker is unavailable.
        """
        self._admin.check_reachable()
        check_config_topic(self._topic, ensure_config_topic(self._admin, self._worker))
        producer = FlushingProducer(self._clients.producer(None), f"target state of connector {connector}")
        try:
            producer.produce(self._topic, encode_target_state(state), target_state_key(connector))
            producer.flush()
        finally:
            producer.close()

    def _take(self, record: LogRecord) -> None:
        """Connect skips what it cannot read and uses the previous record."""
        key = (record.key or b"").decode(errors="replace")
        if not key.startswith(_KEY_PREFIX):
            return
        connector = key.removeprefix(_KEY_PREFIX)
        if record.value is None:
            self._states.pop(connector, None)
            return
        try:
            self._states[connector] = decode_target_state(record.value)
        except ValueError as error:
            log.warning("ignoring the target state of connector %s at %s: %s", connector, record, error)
