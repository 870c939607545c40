"""The statuses of a run, for tools that watch Kafka Connect: see docs/decisions/0021."""

from __future__ import annotations

import logging
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from queue import SimpleQueue

from confluent_kafka import KafkaError, Message, Producer

from airflow_kconnect.connect.errors import ConfigError, ConnectError, FencedError, first_line
from airflow_kconnect.connect.validation.worker_keys import WorkerConfig
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.errors import translate
from airflow_kconnect.kafka.log import CompactedLog, LogRecord
from airflow_kconnect.stores.status_topic.records import (
    ConnectorKey,
    State,
    Status,
    StatusKey,
    TaskKey,
    TopicKey,
    TopicStatus,
    cut_off,
)
from airflow_kconnect.stores.topics import ensure_status_topic

log = logging.getLogger("kconnect")

# There is no worker group whose generations could be counted. No worker of Connect is refused a safe write by it.
_GENERATION = 0
_LIMIT_S = 5.0
_TASK = 0


class RunStatuses:
    """Writes the statuses of a connector's run, from a thread of its own: neither a slow broker nor a missing right
    fails or delays the run. What goes wrong is one warning in the log.

    Without a ``status.storage.topic`` among the worker's keys nothing is written, and no thread starts.

    :param worker: variables resolved. :param version: of the connector's class (KIP-891); None if it is not known.
    :param hide: replaces secrets in traces.
    :param limit_s: how long `close` waits for the broker, in seconds.
    """

    def __init__(
        self,
        worker: WorkerConfig,
        name: str,
        version: str | None,
        *,
        hide: Callable[[str], str] = str,
        limit_s: float = _LIMIT_S,
    ) -> None:
        self._worker, self._name, self._version, self._limit_s = worker, name, version, limit_s
        self._hide = hide
        self._keys: tuple[StatusKey, ...] = (ConnectorKey(name), TaskKey(name, _TASK))
        self._worker_id = f"{socket.gethostname()}:0"
        self._todo: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._written: dict[bytes, tuple[int, int]] = {}  # key -> partition and offset
        self._failed: KafkaError | None = None
        self._began = False

    def running(self) -> None:
        """The run begins."""
        self._began = True
        self._do(lambda: self._put(State.RUNNING))

    def paused(self) -> None:
        """The connector is paused."""
        self._do(lambda: self._put(State.PAUSED))

    def stopped(self) -> None:
        """The connector is stopped: it has no tasks."""
        self._do(self._put_stopped)

    def used(self, topics: Iterable[str], offset_topic: str | None = None) -> None:
        """The run has written to these topics, or has read records from them.

        :param offset_topic: of a source; its id is noted, so that a later run can detect that it is another one.
        """
        names = list(topics)
        if names and self._worker.get("topic.tracking.enable"):
            self._do(lambda: self._put_topics(names, offset_topic))

    def failed(self, error: BaseException | str) -> None:
        """The run has failed.

        A configuration with which nothing could begin is a failure of the connector, everything else one of its task.
        A run that was fenced says nothing: the status is that of its successor.
        """
        if isinstance(error, FencedError):
            return
        trace = bounded_trace(error, self._hide)
        of_connector = isinstance(error, ConfigError) and not self._began
        self._do(lambda: self._put_failed(trace, of_connector=of_connector))

    def close(self) -> None:
        """Wait until everything is written, for a limited time."""
        if self._thread is None:
            return
        self._todo.put(None)
        self._thread.join(self._limit_s)
        if self._thread.is_alive():
            log.warning("the status of connector %s was not written within %.0f s", self._name, self._limit_s)

    def _do(self, what: Callable[[], None]) -> None:
        if not self._worker.writes_statuses:
            return
        self._todo.put(what)
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="statuses", daemon=True)
            self._thread.start()

    def _serve(self) -> None:
        try:
            self._open()
            while (what := self._todo.get()) is not None:
                what()
            self._flush()
        except Exception as error:  # a status must never fail a run
            log.warning("the status of connector %s was not written: %s", self._name, first_line(error))

    def _open(self) -> None:
        clients = ClientConfigs(self._worker.props)
        self._admin = KafkaAdmin(clients.admin(), self._limit_s)
        self._log_config = clients.consumer(f"{self._worker.group_id}-status")
        ensure_status_topic(self._admin, self._worker)
        # Reports of what was delivered have the offsets that `_is_last` wants.
        reports = {"delivery.report.only.error": False, "on_delivery": self._delivered}
        self._producer = Producer(clients.small_producer() | reports)

    def _put(self, state: State) -> None:
        for key in self._keys:
            self._send(key, state)

    def _put_stopped(self) -> None:
        connector, task = self._keys
        self._send(connector, State.STOPPED)
        self._send(task, State.DESTROYED)

    def _put_failed(self, trace: str, *, of_connector: bool) -> None:
        self._flush()
        connector, task = self._keys
        for key in (connector, task) if of_connector else (task,):
            if self._is_last(key):
                self._send(key, State.FAILED, trace)

    def _put_topics(self, names: list[str], offset_topic: str | None) -> None:
        now_ms = int(time.time() * 1000)
        described = self._admin.described([offset_topic] if offset_topic else [])
        offset_topic_id = next((topic.id for topic in described.values()), None)
        for topic in names:
            status = TopicStatus(topic, self._name, _TASK, now_ms, offset_topic_id)
            self._produce(TopicKey(self._name, topic).encode(), status.encode())

    def _send(self, key: StatusKey, state: State, trace: str | None = None) -> None:
        # As in Connect, where it is not written of a task that no longer exists.
        version = None if state is State.DESTROYED else self._version
        self._produce(key.encode(), Status(state, self._worker_id, _GENERATION, trace, version).encode())

    def _produce(self, key: bytes, value: bytes | None) -> None:
        self._producer.produce(self._worker.status_topic, value, key)
        self._producer.poll(0)

    def _flush(self) -> None:
        """:raises ConnectError: the broker has refused a status."""
        left = self._producer.flush(self._limit_s)
        if self._failed is not None:
            raise translate(self._failed, f"writing to {self._worker.status_topic}")
        if left:
            raise ConnectError(f"the broker did not answer within {self._limit_s:.0f} s")

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failed = error
        else:
            self._written[message.key()] = (message.partition(), message.offset())

    def _is_last(self, key: StatusKey) -> bool:
        """Whether no one has written this status since this run did: a newer run, or a Connect worker, knows better."""
        written = self._written.get(key.encode())
        if written is None:
            return True
        partition, offset = written
        others: list[LogRecord] = []
        topic_log = CompactedLog(self._admin, self._log_config, self._worker.status_topic, self._limit_s)
        topic_log.positions[partition] = offset + 1
        topic_log.read([partition], others.append, committed=True)
        return all(record.key != key.encode() for record in others)


def bounded_trace(error: BaseException | str, hide: Callable[[str], str] = str) -> str:
    """The text of an error as a trace: Java's begins with the name of the class, too.

    The lines of code are added for errors other than `ConnectError`: they may be bugs.
    """
    if isinstance(error, str):
        text = error
    elif isinstance(error, ConnectError):
        text = f"{type(error).__module__}.{type(error).__qualname__}: {error}"
    else:
        text = "".join(traceback.format_exception(error))
    return cut_off(hide(text))
