"""A compacted topic folded into a state: read on demand, for commands and other short-lived processes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log import CompactedLog, LogRecord

T = TypeVar("T")


class Foldable(Protocol):
    """What the records of a topic are folded into."""

    def add(self, record: LogRecord) -> None:
        """Take in the next record; must not raise because of its content."""


S = TypeVar("S", bound=Foldable)


class LogReader(Generic[S]):
    """Reads a topic when asked to, in the caller's thread; later calls read only what is new. Thread-safe.

    A topic that does not exist is empty.

    :param group: a group name that the principal may use; nothing is committed, and no consumer joins it.
    """

    def __init__(self, clients: ClientConfigs, topic: str, new_state: Callable[[], S], group: str) -> None:
        self._clients, self._topic, self._group = clients, topic, group
        self._admin = KafkaAdmin(clients.admin())
        self._lock = threading.Lock()
        self._log: CompactedLog | None = None
        self._state = new_state()

    def read_to_end(self, timeout_s: float = 30.0, *, committed: bool = False) -> None:
        """Read what is new.

        :param timeout_s: how long to wait without any progress.
        :param committed: for monitoring: read only up to the first open transaction, without waiting for it.
        :raises OpenTransactionError: an open transaction blocks the end for longer than that.
        :raises ConfigError: reading the topic is not permitted. :raises RetriableError: the broker is unavailable.
        """
        with self._lock:
            if self._log is None:
                self._admin.check_reachable()
                self._log = CompactedLog(self._admin, self._clients.consumer(self._group), self._topic, timeout_s)
            self._log.read(range(self._admin.partitions(self._topic)), self._state.add, committed=committed)

    def look(self, ask: Callable[[S], T]) -> T:
        """What `ask` returns for the state as it was last read."""
        with self._lock:
            return ask(self._state)

    def close(self) -> None:
        """Nothing is held between two reads."""
