"""Producers that commit: in Kafka transactions (exactly once), or by flushing (at least once).

librdkafka speaks the transaction protocol without KIP-890's epoch bump. Therefore a commit is never retried with the
same producer after anything doubtful: the caller closes it, opens a new one (a new epoch, which aborts or completes
what was pending), reads the offsets again and decides from what they say.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicPartition

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.kafka.errors import error_of, translate, translated

Produce = Callable[..., None]


class CommittingProducer(ABC):
    """A producer whose records become visible with a commit, at least; from `begin` to `commit` or `abort`.

    `produce` is confluent-kafka's, for its speed: ``topic, value, key, partition, callback, on_delivery, timestamp,
    headers``, all by position.
    `poll` serves delivery reports; to be called when the queue is full.
    """

    def __init__(self, config: Mapping[str, Any], doing: str) -> None:
        self._doing = doing
        self._failed: tuple[KafkaError, str] | None = None
        try:
            self._producer = Producer({**config, "on_delivery": self._delivered, "error_cb": self._noticed})
        except KafkaException as error:
            text = f"the Kafka client refuses its configuration: {error_of(error).str()}"
            raise ConfigError({"producer.override.*": [text]}) from error
        self.produce: Produce = self._producer.produce
        self.poll: Callable[[float], int] = self._producer.poll

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None and self._failed is None and error.code() != KafkaError._PURGE_QUEUE:
            self._failed = (error, f"{message.topic()}")

    def _noticed(self, error: KafkaError) -> None:
        if error.fatal() and self._failed is None:
            self._failed = (error, "producer")

    def _raise_if_failed(self) -> None:
        if self._failed is not None:
            error, place = self._failed
            raise translate(error, f"{self._doing}: writing to {place}")

    def produce_patiently(self, *record: Any) -> None:
        """`produce` that waits while the queue is full; slower by a call, for records that are few.

        :raises DataError: the record is too large. :raises ConnectError: the client refuses it otherwise.
        """
        while True:
            try:
                return self.produce(*record)
            except BufferError:
                self.poll(0.1)
            except KafkaException as error:
                raise translated(error, f"{self._doing}: writing to {record[0]}") from error

    @abstractmethod
    def begin(self) -> None:
        """Start a transaction, before the first record of each."""

    @abstractmethod
    def commit(self) -> None:
        """Make everything since `begin` visible, or raise: then its outcome may be unknown."""

    @abstractmethod
    def abort(self) -> None:
        """Drop everything since `begin`, as far as possible."""

    def close(self) -> None:
        """Purge what is queued and free the producer's threads."""
        # A fenced producer says so once more.
        with suppress(KafkaException), warnings.catch_warnings(action="ignore", category=RuntimeWarning):
            self._producer.purge(in_queue=True, in_flight=True, blocking=False)
            # confluent-kafka below 2.13 has no close: it frees a producer that is not referenced any more.
            getattr(self._producer, "close", self._producer.flush)(1.0)


class TransactionalProducer(CommittingProducer):
    """A producer with a transactional id: opening it fences every older producer with that id.

    :param config: from `ClientConfigs.producer` with a transactional id.
    :param doing: what it is for; begins error texts.
    :raises ConfigError, RetriableError, FencedError: when the id cannot be taken.
    """

    def __init__(self, config: Mapping[str, Any], doing: str, init_timeout_s: float = 60.0) -> None:
        super().__init__(config, doing)
        try:
            # Asked before there is any connection, librdkafka looks for the coordinator again only 500 ms later.
            with suppress(KafkaException):  # what is wrong is said by the next call
                # confluent-kafka below 2.16 has no cluster_id; the metadata of all topics cost a little more.
                connect = getattr(self._producer, "cluster_id", self._producer.list_topics)
                connect(timeout=min(init_timeout_s, 5.0))
            self._retried(lambda: self._producer.init_transactions(init_timeout_s), attempts=3)
        except BaseException:
            self.close()
            raise

    def begin(self) -> None:
        try:
            self._producer.begin_transaction()
        except KafkaException as error:
            raise translated(error, self._doing) from error

    def commit(self) -> None:
        try:
            # Retriable here means the same call again by the same producer (KIP-98 clients' contract), no new commit.
            self._retried(self._producer.commit_transaction, attempts=5)
        except Exception:
            self._raise_if_failed()
            raise
        self._raise_if_failed()

    def flush(self) -> None:
        """Wait until everything that was produced is acknowledged (not yet visible)."""
        self._producer.flush()
        self._raise_if_failed()

    def send_sink_offsets(self, offsets: Sequence[TopicPartition], group_metadata: Any) -> None:
        """Commit consumer group offsets with this transaction."""
        try:
            self._producer.send_offsets_to_transaction(list(offsets), group_metadata, 30.0)
        except KafkaException as error:
            raise translated(error, f"{self._doing}: committing consumer offsets") from error

    def abort(self) -> None:
        try:
            self._producer.abort_transaction(30.0)
        except KafkaException:
            # The next producer with this id aborts it.
            self._producer.purge()

    def _retried(self, call: Callable[[], Any], attempts: int) -> None:
        for attempt in range(1, attempts + 1):
            try:
                call()
                return
            except KafkaException as error:
                if not error_of(error).retriable() or attempt == attempts:
                    raise translated(error, self._doing) from error


class FlushingProducer(CommittingProducer):
    """An idempotent producer without transactions: at least once."""

    def begin(self) -> None:
        """Nothing to do."""

    def commit(self) -> None:
        self.flush()

    def flush(self) -> None:
        """Wait until everything that was produced is acknowledged."""
        left = self._producer.flush(300.0)
        self._raise_if_failed()
        if left:
            raise RetriableError(f"{self._doing}: {left} records were not acknowledged within 300 s")

    def abort(self) -> None:
        self._producer.purge()


def new_producer(config: Mapping[str, Any], doing: str) -> CommittingProducer:
    """A transactional producer if the configuration has a transactional id, else a flushing one."""
    if "transactional.id" in config:
        return TransactionalProducer(config, doing)
    return FlushingProducer(config, doing)


def fence(config: Mapping[str, Any], doing: str) -> None:
    """Fence every producer with the transactional id of `config`; its open transaction is aborted.

    librdkafka has no ``fenceProducers`` request: a short-lived producer with the id does the same.
    """
    TransactionalProducer(config, doing).close()
