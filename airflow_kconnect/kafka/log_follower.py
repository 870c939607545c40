"""A compacted topic followed by a thread: the current state at any time, for servers and other long-lived processes."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as KafkaTopicPartition

from airflow_kconnect.connect.errors import ConnectError, RetriableError, in_one_line
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.errors import text_of, translate, translated
from airflow_kconnect.kafka.log import LogRecord, OpenTransactionError
from airflow_kconnect.kafka.log_reader import S

log = logging.getLogger(__name__)

T = TypeVar("T")

# Waits at the broker for new records. Who has written waits that long to read it: the end of a topic shows with the
# first fetch that brings nothing. The queue is short, since records are folded as fast as they come.
_PATIENT_AND_SMALL = {
    "fetch.wait.max.ms": 100,
    "queued.min.messages": 1_000,
    "queued.max.messages.kbytes": 2_048,
    "fetch.message.max.bytes": 262_144,
}
_POLL_S = 0.5
_PAUSE_S = 1.0
_BATCH = 500


@dataclass(frozen=True)
class Health:
    """Whether a follower reads its topic.

    :param since: when that began, seconds since the epoch. :param why: what is wrong; empty if nothing is.
    """

    reading: bool
    since: float
    why: str = ""


class LogFollower(Generic[S]):
    """Reads a topic to its end, and then what is new as it arrives. Thread-safe.

    The thread starts with the first call that needs it, also in a process that was forked. While the broker is
    unavailable the last state stays, and `health` says since when. A topic that does not exist is empty until it is
    created; one that is recreated is read from its beginning, and its state replaces the old one once it is complete.

    What is kept in memory is the state and at most a few megabytes of records that have not been folded yet.

    :param new_state: makes an empty state.
    :param group: a group name that the principal may use; nothing is committed, and no consumer joins it.
    :param patience_s: time limit of requests to the broker.
    """

    def __init__(
        self,
        clients: ClientConfigs,
        topic: str,
        new_state: Callable[[], S],
        group: str,
        patience_s: float = 10.0,
    ) -> None:
        self._topic, self._new_state, self._patience_s = topic, new_state, patience_s
        self._admin_config = clients.admin()
        self._consumer_config = clients.consumer(group) | _PATIENT_AND_SMALL
        self._start_lock = threading.Lock()
        self._owner = os.getpid()
        self._closed = False
        self._inherited: list[object] = []
        self._renew()

    def _renew(self) -> None:
        """What belongs to one process. Freeing clients of the process that forked this one would hang: they stay."""
        self._inherited += [self.__dict__.get("_admin"), self.__dict__.get("_consumer")]
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self._admin: KafkaAdmin | None = None
        self._consumer: Consumer | None = None
        self._state: S | None = None
        self._positions: dict[int, int] = {}
        self._health = Health(reading=False, since=time.time(), why="has not been read yet")
        self._suspect: KafkaError | None = None
        self._poked = False

    def start(self) -> None:
        """Start the thread if it does not run in this process; the other methods do that, too."""
        with self._start_lock:
            if self._closed:
                raise RetriableError(f"following {self._topic}: it was stopped")
            if self._owner != os.getpid():
                self._owner = os.getpid()
                self._renew()
            if self._thread is None:
                self._admin = KafkaAdmin(self._admin_config, self._patience_s)
                self._thread = threading.Thread(target=self._run, name=f"follow-{self._topic}", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Stop the thread and wait until it has freed its client."""
        with self._start_lock:
            self._closed = True
            thread = self._thread if self._owner == os.getpid() else None
            self._stopping.set()
        if thread is not None:
            thread.join(self._patience_s)

    @property
    def health(self) -> Health:
        """Whether the topic is being read, and since when."""
        with self._changed:
            return self._health

    def look(self, ask: Callable[[S], T]) -> T:
        """What `ask` returns for the state, which does not change meanwhile. Makes no request.

        :raises RetriableError: the topic has never been read to its end; the text says why.
        """
        self.start()
        with self._changed:
            if self._state is None:
                raise RetriableError(f"reading {self._topic}: {self._health.why}; try again later")
            return ask(self._state)

    def read_to_end(self, timeout_s: float = 30.0, *, committed: bool = False) -> None:
        """Return once everything that is in the topic now has been folded.

        :param committed: for monitoring: only up to the first open transaction.
        :raises OpenTransactionError: an open transaction blocks the end for longer than `timeout_s`.
        :raises ConfigError: reading the topic is not permitted.
        :raises RetriableError: the broker is unavailable, or the end was not reached in time.
        """
        self.start()
        deadline = time.monotonic() + timeout_s
        ends = self._ends(committed=committed)
        with self._changed:
            if set(ends) != set(self._positions):
                self._poked = True  # the thread looks for partitions at once
            reached = self._changed.wait_for(lambda: self._is_at(ends), max(deadline - time.monotonic(), 0.0))
            if not reached:
                raise self._late(ends, timeout_s)

    def _ends(self, *, committed: bool) -> dict[int, int]:
        assert self._admin is not None
        try:
            partitions = self._admin.partitions(self._topic)
            return self._admin.end_offsets(self._topic, range(partitions), committed=committed) if partitions else {}
        except RetriableError:
            self._suspect = self._suspect or KafkaError(KafkaError._TIMED_OUT)
            raise

    def _is_at(self, ends: dict[int, int]) -> bool:
        return self._state is not None and all(self._positions.get(p, -1) >= end for p, end in ends.items())

    def _late(self, ends: dict[int, int], timeout_s: float) -> RetriableError:
        if not self._health.reading:
            return RetriableError(f"reading {self._topic}: {self._health.why}; try again later")
        behind = {p: end for p, end in ends.items() if self._positions.get(p, -1) < end}
        late = ", ".join(f"{self._topic}-{p}@{self._positions.get(p, 0)} (end {behind[p]})" for p in sorted(behind))
        return OpenTransactionError(
            f"reading to the end did not succeed within {timeout_s:.0f} s at {late}: probably an open transaction of"
            " another producer; try again later"
        )

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._follow()
            except ConnectError as error:
                self._note_failure(str(error))
            except Exception as error:  # the thread must outlive it
                log.exception("following %s", self._topic)
                self._note_failure(in_one_line(error))
            self._pause()

    def _pause(self) -> None:
        """Wait a moment, unless there is a reason to look again."""
        deadline = time.monotonic() + _PAUSE_S
        while not self._stopping.wait(0.05) and not self._poked and time.monotonic() < deadline:
            pass
        self._poked = False

    def _follow(self) -> None:
        """Read the topic from its beginning; returns to begin again if there are other partitions than before."""
        admin = self._admin
        assert admin is not None
        partitions = admin.partitions(self._topic)
        ends = admin.end_offsets(self._topic, range(partitions), committed=True) if partitions else {}
        building = self._new_state()
        with self._changed:
            self._positions = {}
        if not partitions:
            self._complete(building)
            return
        self._consumer = consumer = Consumer({**self._consumer_config, "error_cb": self._noticed})
        try:
            consumer.assign([KafkaTopicPartition(self._topic, p, OFFSET_BEGINNING) for p in range(partitions)])
            while not self._stopping.is_set():
                self._take(consumer, building)
                if self._state is not building and all(self._positions.get(p, -1) >= end for p, end in ends.items()):
                    self._complete(building)
                if self._suspect is not None:
                    self._ask_again(consumer)
                # An unavailable broker would hold up the end.
                if self._poked and not self._stopping.is_set():
                    self._poked = False
                    if admin.partitions(self._topic) != partitions:
                        return
        except KafkaException as error:
            raise translated(error, f"reading {self._topic}") from error
        finally:
            consumer.close()
            self._consumer = None

    def _take(self, consumer: Consumer, state: S) -> None:
        first = consumer.poll(_POLL_S)
        if first is None:
            return
        messages = [first, *consumer.consume(_BATCH, timeout=0)]
        with self._changed:
            for message in messages:
                self._deliver(message, state)
            self._changed.notify_all()

    def _deliver(self, message: Message, state: S) -> None:
        error, partition, offset = message.error(), message.partition(), message.offset()
        if error is None:
            self._positions[partition] = offset + 1
            timestamp = message.timestamp()[1]
            state.add(LogRecord(self._topic, partition, offset, timestamp, message.key(), message.value()))
        elif error.code() == KafkaError._PARTITION_EOF:
            # Control markers occupy offsets but are never delivered: only this event gives the true position.
            self._positions[partition] = offset
        else:
            raise translate(error, f"reading {self._topic}-{partition}")

    def _complete(self, state: S) -> None:
        with self._changed:
            self._state = state
            self._health = Health(reading=True, since=time.time())
            self._changed.notify_all()

    def _noticed(self, error: KafkaError) -> None:
        """The client may have lost one connection of several: whether it matters is found out by `_ask_again`."""
        self._suspect = error

    def _ask_again(self, consumer: Consumer) -> None:
        error = self._suspect
        try:
            consumer.list_topics(self._topic, timeout=_PAUSE_S)
        except KafkaException:
            self._note_failure(f"no Kafka broker answers: {text_of(error)}" if error else "no Kafka broker answers")
            return
        self._suspect = None
        with self._changed:
            if not self._health.reading and self._state is not None:
                log.info("following %s again", self._topic)
                self._health = Health(reading=True, since=time.time())

    def _note_failure(self, why: str) -> None:
        with self._changed:
            if self._health.reading or self._state is None:
                since = self._health.since if not self._health.reading else time.time()
                self._health = Health(reading=False, since=since, why=why)
                log.warning("not following %s: %s", self._topic, why)
            self._changed.notify_all()
