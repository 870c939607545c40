"""Which side a connector belongs to while it moves from or to a Connect cluster: a record in the config topic."""

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
from airflow_kconnect.stores.topics import ensure_config_topic
from airflow_kconnect.worker_config.keys import WorkerConfig

log = logging.getLogger(__name__)

_KEY_PREFIX = "kconnect-handover-"
_CONNECTS_KEY_PREFIX = "connector-"


class Handover(Enum):
    """How far a connector has moved. Without a record it belongs to Connect, or was never moved."""

    STOPPING = "STOPPING"
    """It is being stopped in Connect for its first move; offsets that are here already were not judged yet."""
    ARRIVING = "ARRIVING"
    """It is being stopped in Connect, or its offsets are being copied here; those in Connect count."""
    ARRIVED = "ARRIVED"
    """Its offsets are here and count; it is still to be started."""
    HERE = "HERE"
    """It runs here."""
    LEAVING = "LEAVING"
    """It is being stopped here, and its offsets, which still count, copied to Connect."""
    LEFT = "LEFT"
    """Its offsets in Connect count again; it is still to be resumed there."""
    RETURNED = "RETURNED"
    """It runs in Connect again; the offsets that are left here are outdated."""

    @property
    def counts_here(self) -> bool:
        """Whether the offsets here are the ones that count."""
        return self in (Handover.ARRIVED, Handover.HERE, Handover.LEAVING)


class HandoverRecords:
    """Reads and writes these records. Later calls read only what is new.

    :param worker: the worker whose ``config.storage.topic`` is used.
    :raises ConfigError: a setting in the worker's client configuration is not supported.
    """

    def __init__(self, worker: WorkerConfig) -> None:
        self._worker, self._topic = worker, worker.config_topic
        self._clients = ClientConfigs(worker.props)
        self._admin = KafkaAdmin(self._clients.admin())
        self._log = CompactedLog(self._admin, self._clients.consumer(f"{worker.group_id}-configs"), self._topic)
        self._handovers: dict[str, Handover] = {}
        self._of_connect: set[str] = set()

    def read(self, connector: str) -> Handover | None:
        """How far a connector has moved. :raises RetriableError: the broker is unavailable."""
        self._refresh()
        return self._handovers.get(connector)

    def connectors_of_connect(self) -> set[str]:
        """The connectors whose configurations a Connect cluster keeps in this topic: it is that cluster's own."""
        self._refresh()
        return set(self._of_connect)

    def write(self, connector: str, handover: Handover) -> None:
        """Record how far a connector has moved; returns once that is durable.

        :raises ConfigError: the topic is not what Connect needs, or writing it is not permitted.
        :raises RetriableError: the broker is unavailable.
        """
        self._admin.check_reachable()
        ensure_config_topic(self._admin, self._worker)
        value = canonical_json({"handover": handover.value}).encode()
        producer = FlushingProducer(self._clients.producer(None), f"the handover of connector {connector}")
        try:
            producer.produce(self._topic, value, f"{_KEY_PREFIX}{connector}".encode())
            producer.flush()
        finally:
            producer.close()

    def _refresh(self) -> None:
        if self._admin.check_reachable().get(self._topic, 0):
            self._log.read([0], self._take, committed=True)

    def _take(self, record: LogRecord) -> None:
        key = (record.key or b"").decode(errors="replace")
        if key.startswith(_CONNECTS_KEY_PREFIX):
            change = self._of_connect.discard if record.value is None else self._of_connect.add
            change(key.removeprefix(_CONNECTS_KEY_PREFIX))
        elif key.startswith(_KEY_PREFIX):
            self._take_handover(key.removeprefix(_KEY_PREFIX), record)

    def _take_handover(self, connector: str, record: LogRecord) -> None:
        if record.value is None:
            self._handovers.pop(connector, None)
            return
        try:
            fields: Any = json.loads(record.value)
            self._handovers[connector] = Handover(fields["handover"])
        except (ValueError, TypeError, KeyError) as error:
            log.warning("ignoring the handover of connector %s at %s: %s", connector, record, error)
