"""Rows that Arrow makes of parsed payloads are those that Catalyst makes of the messages."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP
from airflow_kconnect.connectors.jdbc.databases.postgresql.lines import Lines
from airflow_kconnect.connectors.jdbc.sink_connector import ConfluentJdbcSink
from airflow_kconnect.converters.base import new_converter
from airflow_kconnect.runtime.conversion.decoding import PartDecoder, decoded_frame

JSON = "org.apache.kafka.connect.json.JsonConverter"
KEY = {"type": "struct", "fields": [{"type": "int64", "optional": False, "field": "id"}], "optional": False}
_DAY_MS = 86_400_000


def field(name: str, type_: str, logical: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "type": type_,
        "optional": True,
        "field": name,
        **({"name": logical, "version": 1} if logical else {}),
        **more,
    }


FIELDS = [
    field("id", "int64", optional=False),
    field("text", "string"),
    field("number", "bytes", DECIMAL, parameters={"scale": "4"}),
    field("real", "double"),
    field("long", "int64"),
    field("short", "int16"),
    field("byte", "int8"),
    field("truth", "boolean"),
    field("day", "int32", DATE),
    field("time", "int32", TIME),
    field("moment", "int64", TIMESTAMP),
]
VALUE = {"type": "struct", "fields": FIELDS, "optional": False}


def decimal(unscaled: int) -> str:
    return base64.b64encode(unscaled.to_bytes(8, "big", signed=True)).decode()


_rows = st.fixed_dictionaries(
    {
        "id": st.integers(-(2**63), 2**63 - 1),
        "text": st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=10),
        "number": st.none() | st.integers(-(2**63), 2**63 - 1).map(decimal),
        "real": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "long": st.none() | st.integers(-(2**63), 2**63 - 1),
        "short": st.none() | st.integers(-(2**15), 2**15 - 1),
        "byte": st.none() | st.integers(-128, 127),
        "truth": st.none() | st.booleans(),
        "day": st.none() | st.integers(-2_440_184, 2**31 - 1),
        "time": st.none() | st.integers(0, _DAY_MS - 1),
        "moment": st.none() | st.integers(-2_440_184 * _DAY_MS, 9_223_372_036_854_775),
    }
)


class Ways:
    """The two ways of the messages of one schema."""

    def __init__(self, spark: SparkSession, payloads: Sequence[dict[str, Any]], **keys: str) -> None:
        self._spark = spark
        config = {key.replace("_", "."): value for key, value in keys.items()}
        base = {"insert.mode": "upsert", "pk.mode": "record_key", "connection.url": "jdbc:postgresql://h/d"}
        self._sink = ConfluentJdbcSink({"name": "sink", **base, **config})
        self._key, self._value = (
            PartDecoder(part, new_converter(None, {}, {f"{part}.converter": JSON}, part)) for part in ("key", "value")
        )
        self._messages = [
            (n, _envelope(KEY, {"id": payload["id"]}), _envelope(VALUE, payload)) for n, payload in enumerate(payloads)
        ]
        self._key.learn([key for _, key, _ in self._messages])
        self._value.learn([value for _, _, value in self._messages])

    def by_arrow(self) -> pa.RecordBatch | None:
        renderer = self._sink.batch_renderer(self._key.shapes, self._value.shapes)
        if renderer is None:
            return None
        offsets, *parts = (pa.array(column) for column in zip(*self._messages, strict=True))
        key, value = (
            decoder.parsers[f"{part}_parsed_0"].parse(column.cast(pa.binary()))
            for part, decoder, column in zip(("key", "value"), (self._key, self._value), parts, strict=True)
        )
        if key.null_count or value.null_count:
            return None
        return renderer.render(offsets, (0, key), (0, value))

    def by_catalyst(self) -> pa.RecordBatch:
        types = "kafka_offset long, key binary, value binary, error string"
        rows = self._spark.createDataFrame([(*message, None) for message in self._messages], types).coalesce(1)
        found = self._sink.render(decoded_frame(rows, self._key, self._value)).toArrow().combine_chunks().to_batches()
        return found[0]


def _envelope(schema: dict[str, Any], payload: dict[str, Any]) -> bytes:
    return json.dumps({"schema": schema, "payload": payload}, separators=(",", ":")).encode()


def lines(batch: pa.RecordBatch) -> list[str]:
    assert batch.column("error").null_count == batch.num_rows
    assert set(batch.column("part").to_pylist()) == {0}
    texts: list[str] = Lines.of(batch, 0, len(FIELDS)).marked().to_pylist()
    return texts


@settings(max_examples=3, suppress_health_check=list(HealthCheck))
@given(payloads=st.lists(_rows, min_size=60, max_size=150))
def test_both_make_the_same_lines(spark: SparkSession, payloads: list[dict[str, Any]]) -> None:
    ways = Ways(spark, payloads)
    by_arrow = ways.by_arrow()
    assert by_arrow is not None
    assert lines(by_arrow) == lines(ways.by_catalyst())


ROW = {name["field"]: None for name in FIELDS} | {"id": 1}


@pytest.mark.parametrize(
    "value",
    [
        {"id": None},
        {"text": "a\0b"},
        {"day": -2_440_185},
        {"time": -1},
        {"time": _DAY_MS},
        {"moment": -2_440_184 * _DAY_MS - 1},
        {"moment": 9_223_372_036_854_776},
    ],
    ids=str,
)
def test_what_catalyst_refuses_is_left_to_it(spark: SparkSession, value: dict[str, Any]) -> None:
    ways = Ways(spark, [ROW, ROW | value])
    assert ways.by_arrow() is None


@pytest.mark.parametrize(
    "keys",
    [
        {"db_timezone": "Europe/Berlin"},
        {"timestamp_fields_list": "long"},
        {"pk_mode": "kafka"},
        {"connection_url": "jdbc:mysql://h/d"},
        {"pk_fields": "missing"},
    ],
    ids=lambda keys: next(iter(keys)),
)
def test_configurations_that_need_catalyst(spark: SparkSession, keys: dict[str, str]) -> None:
    assert Ways(spark, [ROW], **keys).by_arrow() is None


def test_defaults_in_the_place_of_nulls_are_left_to_catalyst(spark: SparkSession, monkeypatch: Any) -> None:
    fields = [f | {"default": "x"} if f["field"] == "text" else f for f in FIELDS]
    monkeypatch.setitem(VALUE, "fields", fields)
    assert Ways(spark, [ROW | {"text": "given"}]).by_arrow() is not None
    assert Ways(spark, [ROW]).by_arrow() is None


def test_keys_that_are_read_for_dead_letters_only(spark: SparkSession) -> None:
    batch = Ways(spark, [ROW], insert_mode="insert", pk_mode="none", fields_whitelist="id").by_arrow()
    assert batch is not None
    assert Lines.of(batch, 0, 1).texts.to_pylist() == ["1\n"]


def test_columns_of_the_table_are_chosen(spark: SparkSession) -> None:
    batch = Ways(spark, [ROW | {"text": "a"}], fields_whitelist="text").by_arrow()
    assert batch is not None
    assert Lines.of(batch, 0, 2).texts.to_pylist() == ["1\ta\n"]
