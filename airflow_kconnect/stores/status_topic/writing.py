"""Writing to the status topic from a run, which must neither wait for it nor fail because of it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from confluent_kafka import KafkaError, Message, Producer

from airflow_kconnect.connect.errors import ConnectError, first_line
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.errors import translate
from airflow_kconnect.kafka.log import CompactedLog, LogRecord
from airflow_kconnect.stores.topics import ensure_status_topic
from airflow_kconnect.worker_config.keys import WorkerConfig

log = logging.getLogger("kconnect")

LIMIT_S = 5.0


class StatusWriter:
    """A thread with a producer of its own. What goes wrong is one warning in the log.

    Without a ``status.storage.topic`` among the worker's keys nothing is done, and no thread starts. Methods other than
    `do` and `close` are for what runs in the thread.

    :param worker: variables resolved. :param name: of the connector.
    :param limit_s: how long `close` waits for the broker, in seconds.
    """

    def __init__(self, worker: WorkerConfig, name: str, limit_s: float = LIMIT_S) -> None:
        self.worker, self.topic = worker, worker.status_topic
        self._name, self._limit_s = name, limit_s
        self._todo: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._written: dict[bytes, tuple[int, int]] = {}  # key -> partition and offset
        self._failed: KafkaError | None = None

    def do(self, what: Callable[[], None]) -> None:
        """Have it done in the thread, after what was asked for before."""
        if not self.worker.writes_statuses:
            return
        self._todo.put(what)
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="statuses", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Wait until everything is written, for a limited time."""
        if self._thread is None:
            return
        self._todo.put(None)
        self._thread.join(self._limit_s)
        if self._thread.is_alive():
            log.warning("the status of connector %s was not written within %.0f s", self._name, self._limit_s)

    def produce(self, key: bytes, value: bytes | None, partition: int = -1) -> None:
        """Send a record."""
        self._producer.produce(self.topic, value, key, partition)
        self._producer.poll(0)

    def flush(self) -> None:
        """Wait for the broker. :raises ConnectError: it has refused a record since then, or does not answer."""
        left = self._producer.flush(self._limit_s)
        failed, self._failed = self._failed, None
        if failed is not None:
            raise translate(failed, f"writing to {self.topic}")
        if left:
            raise ConnectError(f"the broker did not answer within {self._limit_s:.0f} s")

    def written(self, key: bytes) -> tuple[int, int] | None:
        """Partition and offset of the last record with this key that was written here."""
        return self._written.get(key)

    def reader(self) -> CompactedLog:
        """Reads the topic."""
        return CompactedLog(self.admin, self._log_config, self.topic, self._limit_s)

    def is_last(self, key: bytes) -> bool:
        """Whether no one has written a record with this key since one was written here."""
        if (written := self.written(key)) is None:
            return True
        partition, offset = written
        others: list[LogRecord] = []
        topic_log = self.reader()
        topic_log.positions[partition] = offset + 1
        topic_log.read([partition], others.append, committed=True)
        return all(record.key != key for record in others)

    def _serve(self) -> None:
        try:
            self._open()
            while (what := self._todo.get()) is not None:
                what()
            self.flush()
        except Exception as error:  # a status must never fail a run
            log.warning("the status of connector %s was not written: %s", self._name, first_line(error))

    def _open(self) -> None:
        clients = ClientConfigs(self.worker.props)
        self.admin = KafkaAdmin(clients.admin(), self._limit_s)
        self._log_config = clients.consumer(f"{self.worker.group_id}-status")
        self.partitions = ensure_status_topic(self.admin, self.worker)
        # Reports of what was delivered have the offsets that `is_last` wants.
        reports: dict[str, Any] = {"delivery.report.only.error": False, "on_delivery": self._delivered}
        self._producer = Producer(clients.small_producer() | reports)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failed = error
        else:
            self._written[message.key()] = (message.partition(), message.offset())
