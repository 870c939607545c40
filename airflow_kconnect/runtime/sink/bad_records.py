"""Handling of bad records in a sink split: dead letters, the log, and records rejected by the target itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import pyarrow as pa
from confluent_kafka import Message

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.error_cells import RecordError
from airflow_kconnect.connect.errors import DataError, RefusedError
from airflow_kconnect.kafka.headers import headers_of
from airflow_kconnect.kafka.producers import FlushingProducer
from airflow_kconnect.runtime.bad_records import (
    CONTEXT_PREFIX,
    ErrorHandling,
    ErrorReporter,
    FailedRecord,
    original_of,
)
from airflow_kconnect.runtime.sink.reader import read_messages
from airflow_kconnect.runtime.sink.task_reporter import EXECUTING, STAGE


class DeadLetters:
    """Reports the failed records of a split; its producer lives as long as the split.

    At least once: the dead letters of a run that fails before its offsets are committed are written again.
    """

    def __init__(self, handling: ErrorHandling, producer_config: Mapping[str, Any], split: SinkSplit) -> None:
        self.handling = handling
        self._config, self._split = producer_config, split
        self._producer: FlushingProducer | None = None
        self._reporter: ErrorReporter | None = None

    def __enter__(self) -> DeadLetters:
        return self

    def __exit__(self, *_: object) -> None:
        if self._producer is not None:
            self._producer.close()

    def report(self, batch: pa.RecordBatch, row: int, error: RecordError) -> None:
        """Report a row of the split."""
        offset = batch.column("kafka_offset")[row].as_py()
        position = {"topic": self._split.topic, "partition": self._split.partition, "offset": offset}
        self.tell(FailedRecord(**{**position, **original_of(batch, row)}), error)

    def tell(self, record: FailedRecord, error: RecordError) -> None:
        """Report a record."""
        if self._reporter is None:
            if self.handling.topic is not None:
                self._producer = FlushingProducer(self._config, f"dead letters of connector {self.handling.connector}")
                self._producer.begin()
            produce = self._producer.produce_patiently if self._producer else None
            self._reporter = ErrorReporter(self.handling, self._split.partition, produce)
        self._reporter.report(record, error)

    def flush(self) -> None:
        """Wait until the dead letters are in Kafka. :raises RetriableError: they are not."""
        if self._producer is not None:
            self._producer.commit()


class RefusedRecords:
    """The rejected records of the current batch; their original records are read from Kafka again.

    :param consumer_config: of the split's reader.
    :param replayed_topics: they are dead letters of records of these topics, and are restored to those records.
    """

    def __init__(
        self,
        dead_letters: DeadLetters,
        split: SinkSplit,
        consumer_config: Mapping[str, Any],
        replayed_topics: frozenset[str] | None = None,
    ) -> None:
        self._dead_letters, self._split, self._consumer_config = dead_letters, split, consumer_config
        self._topics = replayed_topics
        self._refused: dict[int, RefusedError] = {}

    def add(self, offset: int, error: RefusedError) -> None:
        """See `SplitWriter.tolerate`."""
        self._refused[offset] = error

    def report(self) -> int:
        """Report them before their offsets count: after that they are never read again. Returns how many there were."""
        if not self._refused:
            return 0
        split, originals = self._split, self._originals()
        for offset, error in self._refused.items():
            record_error = RecordError(STAGE, EXECUTING, type(error).__name__, str(error))
            position: dict[str, Any] = {"topic": split.topic, "partition": split.partition, "offset": offset}
            self._dead_letters.tell(FailedRecord(**{**position, **originals.get(offset, {})}), record_error)
        self._dead_letters.flush()
        count = len(self._refused)
        self._refused.clear()
        return count

    def _originals(self) -> dict[int, dict[str, Any]]:
        if not self._dead_letters.handling.reports:
            return {}
        around = replace(self._split, start=min(self._refused), end=max(self._refused) + 1)
        messages = chain.from_iterable(read_messages(self._consumer_config, around))
        return {offset: self._original(m) for m in messages if (offset := m.offset()) in self._refused}

    def _original(self, message: Message) -> dict[str, Any]:
        return _as_in_kafka(message) if self._topics is None else before_it_failed(message, self._topics)


def _as_in_kafka(message: Message) -> dict[str, Any]:
    """A record as it is in Kafka."""
    kind, ms = message.timestamp()
    try:
        headers = headers_of(message)
    except DataError:
        headers = []
    return {
        "key": message.key(),
        "value": message.value(),
        "headers": headers or None,
        "timestamp": ms if kind else None,
    }


def before_it_failed(message: Message, topics: frozenset[str]) -> dict[str, Any]:
    """The record from which a dead letter was made; as in `dead_letters.as_before`."""
    record = _as_in_kafka(message)
    headers = record["headers"] or []
    context = {name.removeprefix(CONTEXT_PREFIX): value for name, value in headers if name.startswith(CONTEXT_PREFIX)}
    record["headers"] = [header for header in headers if not header[0].startswith(CONTEXT_PREFIX)] or None
    topic = (context.get("topic") or b"").decode(errors="replace")
    if topic in topics:
        record["topic"] = topic
        for name, pattern in (("partition", rb"[0-9]{1,9}"), ("offset", rb"[0-9]{1,18}")):
            if re.fullmatch(pattern, context.get(name) or b""):
                record[name] = int(context[name] or b"")
    return record
