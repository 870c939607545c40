"""Splits that are read and rendered without Spark: what is rendered, and where Spark has to take over."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.error_cells import NEEDS_SPARK
from airflow_kconnect.connectors.file.plain_text import plain_text
from airflow_kconnect.converters.base import Converter, new_converter
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.runtime.conversion.decoding import PartDecoder
from airflow_kconnect.runtime.sink.reader import ReaderSettings
from airflow_kconnect.runtime.sink.without_jvm import rendered_rows
from tests.support.kafka import produce

_STRINGS = "org.apache.kafka.connect.storage.StringConverter"
_JSON = "org.apache.kafka.connect.json.JsonConverter"


@pytest.fixture
def rendered(topic: Callable[..., str], bootstrap: str) -> Callable[..., list[str | None]]:
    """The lines of messages, or None where Spark has to read on."""

    def lines(converter: Converter, *messages: bytes | None) -> list[str | None]:
        name = topic()
        produce(bootstrap, name, [*messages])
        decoder = PartDecoder("value", converter)
        decoder.learn([message for message in messages if message is not None])
        split = SinkSplit(name, 0, 0, len(messages))
        config = ClientConfigs({"bootstrap.servers": bootstrap}, name="reader").consumer("readers", bulk=True)
        reader = ReaderSettings(config, (split,), frozenset(), decoder.plain_parsers, keeps_parsed=False)
        renderer = plain_text(decoder.shapes)
        assert renderer is not None
        return [line for rows in rendered_rows(reader, renderer, split) for line in _lines(rows)]

    return lines


def _lines(rows: pa.RecordBatch) -> list[str | None]:
    if "line" not in rows.schema.names:
        assert rows.column("error").to_pylist() == [NEEDS_SPARK]
        return [None]
    texts: list[str | None] = rows.column("line").to_pylist()
    return texts


def test_tombstones_are_null(rendered: Callable[..., list[str | None]]) -> None:
    assert rendered(new_converter(_STRINGS, {}, {}), b"a", None, b"b") == ["a\n", "null\n", "b\n"]
    assert rendered(new_converter(_STRINGS, {}, {}), None) == ["null\n"]


def test_tombstones_among_messages_with_a_schema(rendered: Callable[..., list[str | None]]) -> None:
    message = b'{"schema":{"type":"string","optional":false},"payload":"a"}'
    assert rendered(new_converter(_JSON, {}, {}), message, None) == ["a\n", "null\n"]


def test_spark_reads_on_where_a_message_is_not_understood(rendered: Callable[..., list[str | None]]) -> None:
    assert rendered(new_converter(_STRINGS, {}, {}), b"a", b"\xff") == [None]
    message = b'{"schema":{"type":"string","optional":false},"payload":%s}'
    assert rendered(new_converter(_JSON, {}, {}), message % b'"a"', message % b"1", None) == [None]
