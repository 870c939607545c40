"""The HTTP sink: records as the bodies of requests, with the names, keys and defaults of Aiven's HTTP sink."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar
from urllib.parse import urlsplit

from airflow_kconnect.connect.config import ConfigDef, Importance, Range, Type, ValidString, nullable
from airflow_kconnect.connect.connector.datasets import Dataset
from airflow_kconnect.connect.connector.sink import PollSinkConnector
from airflow_kconnect.connect.connector.task import SinkTask
from airflow_kconnect.connect.errors import ConfigError, DataError, RefusedError, RetriableError
from airflow_kconnect.connect.record import SinkRecord, TopicPartition
from airflow_kconnect.converters.json.value_text import JsonWriter, is_writable
from airflow_kconnect.converters.json.values import BASE64, NUMERIC
from airflow_kconnect.converters.schemaless import json_text, utf8
from airflow_kconnect.functions.http import AnswerError
from airflow_kconnect.http.connection import (
    about_configuration,
    explained,
    open_client,
    refuse_redirect,
    secrets_of,
)
from airflow_kconnect.http.keys import (
    HEADER_NAME,
    LOGIN,
    URL,
    connection_problems,
    connection_warnings,
    define_connection,
    show_with,
)
from airflow_kconnect.validation.connector_keys import KCONNECT

TARGET, WAIT_MS, DECIMALS = "http.url", "kafka.retry.backoff.ms", "decimal.format"
BATCHING, BATCH_SIZE = "batching.enabled", "batch.max.size"
PREFIX, SUFFIX, SEPARATOR = "batch.prefix", "batch.suffix", "batch.separator"
KEY_HEADER, IDEMPOTENT = "kconnect.http.idempotency.header", "kconnect.http.idempotent"

_HIGH, _MEDIUM, _LOW = Importance
_DAY_MS = 86_400_000
_ESCAPES = {r"\n": "\n", r"\r": "\r", r"\t": "\t"}


def sink_config() -> ConfigDef:
    """All keys of the sink's own."""
    config = ConfigDef().define(TARGET, Type.STRING, importance=_HIGH, documentation="Where records are sent, by POST.",
                                validator=URL, example="https://example.com/orders")  # fmt: skip
    config = (
        define_connection(config, retries=1)
        .define(BATCHING, Type.BOOLEAN, False, _HIGH, "Whether a request has several records.")
        .define(BATCH_SIZE, Type.INT, 500, _MEDIUM, "The most records that a request has.",
                validator=Range.between(1, 1_000_000))
        .define(PREFIX, Type.STRING, "", _HIGH, "What is before the first record of a request, such as `[`.")
        .define(SUFFIX, Type.STRING, r"\n", _HIGH,
                r"What is after the last one, such as `]`. `\n`, `\r` and `\t` stand for these characters.")
        .define(SEPARATOR, Type.STRING, r"\n", _HIGH,
                "What is between two records, such as `,`. If it is empty, or white space, it is a line feed.")
        .define(WAIT_MS, Type.LONG, None, _MEDIUM,
                "After how many milliseconds the same records are sent again within the run, if the retries are used "
                "up; for at most five minutes. Without it the run ends with exit code 3, and Airflow's retries count.",
                validator=nullable(Range.between(0, _DAY_MS)))
        .define(DECIMALS, Type.STRING, BASE64, _LOW, "How decimals are written: as `BASE64` or as numbers (`NUMERIC`).",
                validator=ValidString.in_case_insensitive(BASE64, NUMERIC))
        .define(KEY_HEADER, Type.STRING, "Idempotency-Key", _LOW,
                "The header that names what is sent by topic, partition and offset, so that the receiver can recognise "
                "a request that it has had already. Empty: there is none.", group=KCONNECT,
                validator=HEADER_NAME)
        .define(IDEMPOTENT, Type.BOOLEAN, False, _MEDIUM,
                "Whether the receiver does not mind to get a record twice, as it recognises the idempotency key, or "
                "an id in the record. Then intervals can be replayed.", group=KCONNECT)
    )  # fmt: skip
    return show_with(config, BATCHING, "true".__eq__, "batch.")


class HttpSinkConnector(PollSinkConnector):
    """Sends the records of a partition in order."""

    summary = "Sends records to an HTTP server, one or several with each request: webhooks, and APIs that take records."
    first_keys: ClassVar[tuple[str, ...]] = (TARGET, LOGIN, BATCHING)

    @classmethod
    def config(cls) -> ConfigDef:
        return sink_config()

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        values = _parsed(props)
        return connection_problems(values) if values else {}

    @classmethod
    def warnings(cls, props: Mapping[str, str]) -> list[str]:
        return connection_warnings(sink_config().parse(props))

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        if props.get(IDEMPOTENT, "").lower() == "true":
            return None
        return f"does not say that its receiver may get records twice; if it may: `{IDEMPOTENT}` true"

    @classmethod
    def datasets(cls, props: Mapping[str, str], report: Mapping[str, Any] | None = None) -> list[Dataset]:
        parts = urlsplit(props.get(TARGET, ""))
        return [Dataset(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", parts.path or "/")]

    @classmethod
    def alter_offsets(cls, props: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """There are no offsets besides the group's."""
        return True

    def check(self) -> None:
        """Find out whether certificates can be used."""
        open_client(self.config_values, TARGET).close()

    def task_class(self) -> Callable[[], SinkTask]:
        return HttpSinkTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [self.props]


def _parsed(props: Mapping[str, str]) -> dict[str, Any] | None:
    try:
        return sink_config().parse(props)
    except ConfigError:
        return None  # these keys are named already


@dataclass(frozen=True)
class _Body:
    """A record as it is sent."""

    record: SinkRecord
    data: bytes


class HttpSinkTask(SinkTask):
    """Each `put` has sent what it was given when it returns."""

    def start(self, props: Mapping[str, str]) -> None:
        self._values = sink_config().parse(props)
        self._secrets = secrets_of(self._values)
        self._around = _around(self._values)
        self._client = open_client(self._values, TARGET)

    def put(self, records: Sequence[SinkRecord]) -> None:
        try:
            for batch in self._batches(records):
                self._send(batch)
        except RetriableError:
            if self._values[WAIT_MS] is not None:
                self.context.timeout(self._values[WAIT_MS])
            raise

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Nothing is left to send."""

    def stop(self) -> None:
        if hasattr(self, "_client"):
            self._client.close()

    def _batches(self, records: Sequence[SinkRecord]) -> Iterator[list[_Body]]:
        """Where batches end depends on offsets, not on where a run begins: after a kill the same ones are sent again,
        but for the last.
        """
        size = self._values[BATCH_SIZE] if self._values[BATCHING] else 1

        def place(record: SinkRecord) -> tuple[str, int, int]:
            return record.read_topic, record.partition, record.kafka_offset // size

        for _, batch in groupby(records, place):
            if bodies := [body for record in batch if (body := self._body(record))]:
                yield bodies

    def _body(self, record: SinkRecord) -> _Body | None:
        """None: it has none, and was reported."""
        try:
            return _Body(record, _data(record, self._values[DECIMALS].upper()))
        except DataError as error:
            self.context.report(record, error)
            return None

    def _send(self, batch: list[_Body]) -> None:
        try:
            self._post(batch)
        except AnswerError as error:
            if problem := about_configuration(error, TARGET, self._secrets):
                raise problem from error
            if len(batch) > 1:  # which of them is refused? nothing was done, so the others can be sent alone
                for body in batch:
                    self._send([body])
            else:
                self.context.report(batch[0].record, RefusedError(explained(error, self._secrets)))

    def _post(self, batch: list[_Body]) -> None:
        response = self._client.post(
            self._values[TARGET], content=self._content(batch), headers=self._idempotency(batch)
        )
        refuse_redirect(response, TARGET)

    def _content(self, batch: list[_Body]) -> bytes:
        if not self._values[BATCHING]:
            return batch[0].data
        prefix, separator, suffix = self._around
        return prefix + separator.join(body.data for body in batch) + suffix

    def _idempotency(self, batch: list[_Body]) -> dict[str, str]:
        """The same for the same records, in whatever run they are sent."""
        first, last = batch[0].record, batch[-1].record
        key = f"{first.read_topic}-{first.partition}-{first.kafka_offset}"
        if len(batch) > 1:
            key += f"-{last.kafka_offset}"
        return {self._values[KEY_HEADER]: key} if self._values[KEY_HEADER] else {}


def _around(values: Mapping[str, Any]) -> tuple[bytes, bytes, bytes]:
    """Prefix, separator and suffix. Values of configurations have no white space at their ends."""
    prefix, separator, suffix = (_unescaped(values[key]) for key in (PREFIX, SEPARATOR, SUFFIX))
    return prefix.encode(), (separator or "\n").encode(), suffix.encode()


def _unescaped(text: str) -> str:
    for escape, character in _ESCAPES.items():
        text = text.replace(escape, character)
    return text


def _data(record: SinkRecord, decimal_format: str) -> bytes:
    """The body of a record: texts and bytes as they are, anything else as JSON.

    :raises DataError: it has none, or cannot be written.
    """
    value, schema = record.value, record.value_schema
    if value is None:
        raise DataError("a tombstone has no value that could be sent: drop it by the transformation Filter")
    if isinstance(value, str):
        return utf8(value)
    if isinstance(value, bytes):
        return value
    if schema is None:
        return utf8(json_text(value))
    if not is_writable(schema):
        raise DataError("a map whose keys are not texts cannot be written as JSON")
    return JsonWriter(schema, b"", b"", decimal_format, replaces_nulls=True)(value)
