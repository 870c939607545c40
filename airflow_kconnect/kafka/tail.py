"""Reads the records of a topic for display: the first or the last ones, up to the read_committed end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message
from confluent_kafka import TopicPartition as KafkaTopicPartition

from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.errors import translate
from airflow_kconnect.kafka.headers import headers_of

_PATIENCE_S = 30.0
# Transaction markers occupy offsets, too.
_MARKS_EACH = 2


@dataclass(frozen=True)
class SeenRecord:
    """A record as text; the timestamp is in epoch milliseconds."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: str | None
    value: str | None
    headers: list[dict[str, str | None]]


Text = Callable[[bytes], str]


def readable(data: bytes) -> str:
    """For the eye: what is not UTF-8 is escaped."""
    return data.decode(errors="backslashreplace")


def lossless(data: bytes) -> str:
    """For programs: `text.encode(errors="surrogateescape")` gives the bytes again."""
    return data.decode(errors="surrogateescape")


def missing_topic(topic: str, existing: Iterable[str], cure: str = "") -> ConfigError:
    """The error about a topic that does not exist. :param cure: what else can be done, after a semicolon."""
    similar = get_close_matches(topic, existing, n=1)
    hint = f"; did you mean `{similar[0]}`?" if similar else ""
    return ConfigError({"TOPIC": [f"topic {topic} does not exist{hint or cure}"]})


class TopicTail:
    """Shows records of one topic.

    :param consumer_config: from `ClientConfigs.consumer`: read_committed, with partition-EOF events enabled.
    :param text: how keys, values and headers become text.
    :raises ConfigError: there is no such topic.
    :raises RetriableError: the broker is unavailable.
    """

    def __init__(
        self, admin: KafkaAdmin, consumer_config: Mapping[str, Any], topic: str, text: Text = readable
    ) -> None:
        self._config, self._topic, self._text = dict(consumer_config), topic, text
        existing = admin.check_reachable()
        if topic not in existing:
            raise missing_topic(topic, existing)
        partitions = range(existing[topic])
        self._begins = admin.begin_offsets(topic, partitions)
        self._ends = admin.end_offsets(topic, partitions, committed=True)

    def first(self, max_records: int | None) -> Iterator[SeenRecord]:
        """The records from the beginning, partition by partition; all of them if `max_records` is None."""
        return islice(self._read(self._begins), max_records)

    def last(self, max_records: int) -> list[SeenRecord]:
        """The last records of all partitions together, by their timestamps."""
        back = max_records
        while True:
            starts = {p: max(begin, self._ends[p] - back) for p, begin in self._begins.items()}
            records = list(self._read(starts))
            if len(records) >= max_records or starts == self._begins:
                return sorted(records, key=lambda r: (r.timestamp, r.partition, r.offset))[-max_records:]
            back *= _MARKS_EACH

    def _read(self, starts: Mapping[int, int]) -> Iterator[SeenRecord]:
        for partition in sorted(starts):
            if starts[partition] < self._ends[partition]:
                yield from self._partition(partition, starts[partition])

    def _partition(self, partition: int, start: int) -> Iterator[SeenRecord]:
        consumer = Consumer(self._config)
        try:
            consumer.assign([KafkaTopicPartition(self._topic, partition, start)])
            while True:
                message = consumer.poll(_PATIENCE_S)
                if message is None:
                    raise RetriableError(f"reading {self._topic}-{partition}: nothing arrived for {_PATIENCE_S:.0f} s")
                if (error := message.error()) is not None:
                    if error.code() == KafkaError._PARTITION_EOF:
                        return
                    raise translate(error, f"reading {self._topic}-{partition}")
                if message.offset() >= self._ends[partition]:
                    return
                yield _seen(message, self._text)
        finally:
            consumer.close()


def _seen(message: Message, text: Text) -> SeenRecord:
    try:
        headers = [{"key": name, "value": _text(value, text)} for name, value in headers_of(message)]
    except DataError as error:
        headers = [{"key": str(error), "value": None}]
    return SeenRecord(
        message.topic(),
        message.partition(),
        message.offset(),
        message.timestamp()[1],
        _text(message.key(), text),
        _text(message.value(), text),
        headers,
    )


def _text(value: bytes | None, text: Text) -> str | None:
    return None if value is None else text(value)
