"""Producers that commit: in Kafka transactions (exactly once), or by flushing (at least once).

librdkafka speaks the transaction protocol without KIP-890's epoch bump. Therefore a commit whose outcome is in doubt is
never retried with the same producer: the caller closes it, opens a new one (a new epoch, which aborts or completes what
was pending), reads the offsets again and decides based on them.
"""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka import TopicPartition as KafkaTopicPartition

from airflow_kconnect.connect.errors import ConfigError, ConnectError, FencedError, RetriableError
from airflow_kconnect.kafka.bounded import bounded
from airflow_kconnect.kafka.errors import error_of, translate

Produce = Callable[..., None]

# A broken client answers every call with this; what broke it is reported only once.
_BROKEN = {KafkaError._FATAL, KafkaError._STATE}
_TRANSACTION_TIMEOUT_MS = 60_000  # the clients' default
# librdkafka does not honour all of the timeouts it is given: if a broker was restarted at the wrong moment,
# `send_offsets_to_transaction` never returns (librdkafka issues 5456 and 5511).
_GRACE_S = 15.0
_CALL_S = 30.0
_TRANSACTIONS = "__transaction_state"
_AT_ONCE_S = 0.1
_BETWEEN_CONNECTIONS_S = 0.06  # librdkafka's own pause is 50 ms


class TransactionTimedOut(RetriableError):
    """The transaction was open for longer than ``transaction.timeout.ms``: the broker has aborted it."""


class CommittingProducer(ABC):
    """A producer whose records become visible with a commit at the latest; used from `begin` to `commit` or `abort`.

    `produce` is confluent-kafka's own, for speed: ``topic, value, key, partition, callback, on_delivery, timestamp,
    headers``, all positional. It raises `BufferError` if the queue is full, and `KafkaException`: see `failure`.
    """

    def __init__(self, config: Mapping[str, Any], doing: str) -> None:
        self._doing = doing
        self._failed: tuple[KafkaError, str] | None = None
        self.written: dict[str, list[int]] = {}
        """``topic-partition`` -> first offset and the one after the last, of what was acknowledged; only with
        ``delivery.report.only.error=False``.
        """
        try:
            self._producer = Producer({**config, "on_delivery": self._delivered, "error_cb": self._noticed})
        except KafkaException as error:
            text = f"the Kafka client refuses its configuration: {error_of(error).str()}"
            raise ConfigError({"producer.override.*": [text]}) from error
        self.produce: Produce = self._producer.produce

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            offset = message.offset() or 0
            known = self.written.setdefault(f"{message.topic()}-{message.partition()}", [offset, offset + 1])
            known[0], known[1] = min(known[0], offset), max(known[1], offset + 1)
        elif error.code() != KafkaError._PURGE_QUEUE:
            self._remember(error, f"{self._doing}: writing to {message.topic()}")

    def _noticed(self, error: KafkaError) -> None:
        if error.fatal():
            self._remember(error, self._doing)

    def _remember(self, error: KafkaError, doing: str) -> None:
        """Keep the first error, unless it only says that there was another one."""
        if self._failed is None or self._failed[0].code() in _BROKEN:
            self._failed = (error, doing)

    def _raise_if_failed(self) -> None:
        if self._failed is not None:
            raise self._meaning(*self._failed)

    def poll(self, timeout_s: float) -> int:
        """Serve delivery reports; call it when the queue is full.

        :raises ConnectError: the client is broken, for example because it was fenced.
        """
        return self._serving(lambda: self._producer.poll(timeout_s))

    def _serving(self, call: Callable[[], int]) -> int:
        """Make a call that serves callbacks: in such calls confluent-kafka raises fatal errors instead of calling
        `error_cb`.
        """
        try:
            return call()
        except KafkaException as error:
            self._remember(error_of(error), self._doing)
            raise self.failure(error, "") from error
        except (SystemError, AttributeError) as error:
            # It called `on_delivery` or `error_cb`, too, while it was raising one: Python gets confused by that.
            raise self.failure(KafkaException(KafkaError(KafkaError._FATAL)), "") from error

    def failure(self, exception: KafkaException, doing: str) -> ConnectError:
        """What an error of `produce` means: often it is the consequence of an earlier failure.

        :param doing: what was attempted, for the text; may be empty.
        """
        error, where = error_of(exception), f"{self._doing}: {doing}" if doing else self._doing
        if error.code() not in _BROKEN:
            return self._meaning(error, where)
        with suppress(KafkaException, SystemError):
            self._producer.poll(0)  # a pending delivery report may say what was rejected
        if self._failed is not None and self._failed[0].code() not in _BROKEN:
            return self._meaning(*self._failed)
        return self._meaning(self._cause() or error, where)

    def _cause(self) -> KafkaError | None:
        """The client's own account of what broke it, if there is one."""
        return None

    def _meaning(self, error: KafkaError, doing: str) -> ConnectError:
        return translate(error, doing)

    def produce_patiently(self, *record: Any) -> None:
        """`produce` that waits while the queue is full; one call slower, so only for small numbers of records.

        :raises DataError: the record is too large. :raises ConnectError: the client rejects it for another reason.
        """
        while True:
            try:
                return self.produce(*record)
            except BufferError:
                self.poll(0.1)
            except KafkaException as error:
                raise self.failure(error, f"writing to {record[0]}") from error

    @abstractmethod
    def begin(self) -> None:
        """Start a transaction, before the first record of each."""

    @abstractmethod
    def settle(self) -> None:
        """Call this between the records and their progress: a reader must never see the progress without the records.

        :raises ConnectError: records were rejected.
        """

    @abstractmethod
    def flush(self) -> None:
        """Wait until everything that was produced is acknowledged.

        :raises ConnectError: records were rejected.
        """

    @abstractmethod
    def commit(self) -> None:
        """Make everything since `begin` visible, or raise: the outcome may then be unknown."""

    @abstractmethod
    def abort(self) -> None:
        """Drop everything since `begin`, as far as possible."""

    def close(self) -> None:
        """Purge the queue and free the producer's threads."""
        # A fenced producer reports the fencing again.
        with suppress(KafkaException), warnings.catch_warnings(action="ignore", category=RuntimeWarning):
            self._producer.purge(in_queue=True, in_flight=True, blocking=False)
            # confluent-kafka below 2.13 has no close: it frees a producer once it is no longer referenced.
            getattr(self._producer, "close", self._producer.flush)(1.0)


class TransactionalProducer(CommittingProducer):
    """A producer with a transactional id: opening it fences every older producer with that id.

    :param config: from `ClientConfigs.producer` with a transactional id.
    :param doing: what it is for; error texts start with it.
    :raises ConfigError, RetriableError, FencedError: the id cannot be acquired.
    """

    def __init__(self, config: Mapping[str, Any], doing: str, init_timeout_s: float = 60.0) -> None:
        super().__init__(config, doing)
        self._timeout_ms = int(config.get("transaction.timeout.ms", _TRANSACTION_TIMEOUT_MS))
        self._began_s: float | None = None
        self._stuck = False
        try:
            _connect(self._producer, min(init_timeout_s, 5.0))
            self._retried(lambda: self._producer.init_transactions(init_timeout_s), init_timeout_s, attempts=3)
        except BaseException:
            self.close()
            raise

    def begin(self) -> None:
        try:
            self._producer.begin_transaction()
        except KafkaException as error:
            raise self._meaning(error_of(error), self._doing) from error
        self._began_s = time.monotonic()

    def settle(self) -> None:
        """Nothing to do: both become visible with the transaction, or neither."""

    def commit(self) -> None:
        try:
            # Retriable here means the same call again by the same producer (KIP-98 clients' contract), not a new
            # commit. After its timeout the transaction is aborted, so there is nothing left to wait for.
            self._retried(self._producer.commit_transaction, self._timeout_ms / 1000, attempts=5)
        except Exception:
            self._raise_if_failed()
            raise
        self._raise_if_failed()
        self._began_s = None

    def flush(self) -> None:
        """Wait until everything that was produced is acknowledged (not yet visible)."""
        self._serving(self._producer.flush)
        self._raise_if_failed()

    def send_sink_offsets(self, offsets: Sequence[KafkaTopicPartition], group_metadata: Any) -> None:
        """Commit consumer group offsets with this transaction."""
        try:
            self._answered(
                lambda: self._producer.send_offsets_to_transaction(list(offsets), group_metadata, _CALL_S), _CALL_S
            )
        except KafkaException as error:
            raise self.failure(error, "committing consumer offsets") from error

    def abort(self) -> None:
        self._began_s = None
        if self._stuck:
            return
        try:
            self._answered(lambda: self._producer.abort_transaction(_CALL_S), _CALL_S)
        except RetriableError:
            return
        except KafkaException:
            # The next producer with this id aborts it.
            self._producer.purge()

    def close(self) -> None:
        """Purge the queue and free the producer's threads; the threads of a hung client end with the process."""
        if not self._stuck:
            super().close()

    def _answered(self, call: Callable[[], Any], limit_s: float) -> None:
        """Make a client call that has a time limit, and enforce the limit if the client does not.

        :raises RetriableError: the call did not return. The producer can no longer be used.
        """
        try:
            bounded(call, limit_s + _GRACE_S)
        except TimeoutError as error:
            self._stuck = True
            raise RetriableError(
                f"{self._doing}: the Kafka client gave no answer within {limit_s + _GRACE_S:.0f} s, as it does when a"
                " broker was restarted at the wrong moment; the next run finds out what was committed, and resumes"
            ) from error

    def _retried(self, call: Callable[[], Any], limit_s: float, attempts: int) -> None:
        for attempt in range(1, attempts + 1):
            try:
                self._answered(call, limit_s)
                return
            except KafkaException as error:
                if not error_of(error).retriable() or attempt == attempts:
                    raise self._meaning(error_of(error), self._doing) from error

    def _cause(self) -> KafkaError | None:
        # Within a transaction a second attempt is always rejected, and the rejection says what was wrong with the
        # first.
        try:
            self._producer.begin_transaction()
        except KafkaException as error:
            return error_of(error)
        return None

    def _meaning(self, error: KafkaError, doing: str) -> ConnectError:
        """The broker ends a transaction that takes too long by fencing its producer."""
        meaning = super()._meaning(error, doing)
        open_s = 0.0 if self._began_s is None else time.monotonic() - self._began_s
        if not isinstance(meaning, FencedError) or open_s * 1000 < self._timeout_ms:
            return meaning
        return TransactionTimedOut(
            f"{doing}: the broker has aborted the transaction, which was open for {open_s:.0f} s, longer than its"
            f" `transaction.timeout.ms` of {self._timeout_ms} ms; raise `producer.override.transaction.timeout.ms`"
            " (at most to the broker's `transaction.max.timeout.ms`)"
        )


class FlushingProducer(CommittingProducer):
    """An idempotent producer without transactions: at least once."""

    def begin(self) -> None:
        """Nothing to do."""

    def settle(self) -> None:
        self.flush()

    def commit(self) -> None:
        self.flush()

    def flush(self) -> None:
        """Wait until everything that was produced is acknowledged."""
        unacknowledged = self._serving(lambda: self._producer.flush(300.0))
        self._raise_if_failed()
        if unacknowledged:
            raise RetriableError(f"{self._doing}: {unacknowledged} records were not acknowledged within 300 s")

    def abort(self) -> None:
        self._producer.purge()


def new_producer(config: Mapping[str, Any], doing: str) -> CommittingProducer:
    """A transactional producer if the configuration has a transactional id, else a flushing one."""
    if "transactional.id" in config:
        return TransactionalProducer(config, doing)
    return FlushingProducer(config, doing)


def _connect(producer: Producer, timeout_s: float) -> None:
    """Wait until the client knows the cluster, at most for the timeout: the next call reports what is wrong.

    Without a connection, librdkafka would look for the coordinator once, and again only after half a second.
    """
    with suppress(AttributeError, KafkaException):  # confluent-kafka below 2.16 has no cluster_id
        producer.cluster_id(timeout=_AT_ONCE_S)
        return
    # Its threads have missed each other, most often while several clients start. It connects once a second, or for a
    # request.
    with suppress(KafkaException):
        producer.list_topics(_TRANSACTIONS, timeout=timeout_s)
    time.sleep(_BETWEEN_CONNECTIONS_S)


def fence(config: Mapping[str, Any], doing: str) -> None:
    """Fence every producer with the transactional id of `config`; its open transaction is aborted.

    librdkafka has no ``fenceProducers`` request: a short-lived producer with the id has the same effect.
    """
    TransactionalProducer(config, doing).close()
