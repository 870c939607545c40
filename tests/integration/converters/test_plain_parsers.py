"""Messages that are parsed and rendered in batches, without Spark, become what Catalyst makes of them.

Each batch is small, so that one unusual message leaves few others to Catalyst; all batches are one job of Spark.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.connector.sink import BatchRenderer, NativeSinkConnector
from airflow_kconnect.connectors.directory.encoders.texts import TextEncoder
from airflow_kconnect.connectors.directory.sink import DirectorySinkConnector
from airflow_kconnect.connectors.directory.writers import encodable
from airflow_kconnect.connectors.file.sink import FileStreamSinkConnector
from airflow_kconnect.converters.base import Converter, new_converter
from airflow_kconnect.runtime.conversion.decoding import PartDecoder, decoded_frame

_BATCHES = 400
Messages = list[bytes | None]
Draw = Callable[[Random], bytes | None]

_TEXTS = [
    "",
    "a",
    "a b",
    "ümläut ☃ 𝄞",
    '"',
    "\\",
    'a\\"b',
    "\n\t\b\f\r",
    "\x00\x1f",
    "/",
    "\x7f\u2028",
    "null",
    "{",
    "1.5",
]
_KEYS = ["a", "b", "B", "aa", "ä", "☃", "\ufffd", "𝄞", "", "a b", "a.b", 'q"', "key", "id"]
_NUMBERS = [
    "0", "-0", "1", "-17", "999999999999999999", "9223372036854775807", "9223372036854775808", "1e2", "1E2", "1.0",
    "1.50", "-0.0", "0.0", "0.1", "0.001", "0.0009", "1234567.5", "12345678.5", "1.0E10", "1.5E-7", "1e400",
    "0.14285714285714285", "0.30000000000000004", "2.2250738585072014E-308", "9007199254740993.0",
    "123456789012345678901234567890.5", "100.0",
]  # fmt: skip
_WRONG = [
    b"",
    b" ",
    b"{",
    b"}",
    b"nul",
    b"01",
    b"+1",
    b"1.",
    b".5",
    b"NaN",
    b'"a',
    b'a"',
    b'{"a":1,}',
    b'{"a" 1}',
    b"\xff",
    b'"\xff"',
]
_WRONG += [
    b'{"a":1}{"b":2}',
    b'{"a":1}\n',
    b'\n"a"',
    b'"\t"',
    b'"\\x"',
    b'"\\',
    b'"\\ud800"',
    b"[1,]",
    b"'a'",
    b"// 1",
    b"{a:1}",
    b"\xef\xbb\xbf1",
]
_SEPARATORS = [(",", ":"), (",", ":"), (", ", ": "), (" , ", " : ")]


def _json_text(random: Random, depth: int) -> str:
    kind = random.choice(["text", "number", "word", *(["object", "object", "list"] if depth else [])])
    comma, colon = random.choice(_SEPARATORS) if random.random() < 0.1 else (",", ":")
    if kind == "text":
        return json.dumps(random.choice(_TEXTS), ensure_ascii=random.random() < 0.1)
    if kind == "number":
        return (
            random.choice(_NUMBERS)
            if random.random() < 0.3
            else str(random.randint(-(10**6), 10**6) / random.choice([1, 8]))
        )
    if kind == "word":
        return random.choice(["true", "false", "null"])
    items = [_json_text(random, depth - 1) for _ in range(random.choice([0, 1, 2, 5]))]
    if kind == "list":
        return f"[{comma.join(items)}]"
    return "{" + comma.join(json.dumps(random.choice(_KEYS), ensure_ascii=False) + colon + item for item in items) + "}"


def _rows(random: Random) -> bytes:
    """Flat objects with the members that messages of a topic have."""
    names = ["id", "name", "active", "score", "note", "tags"]
    random.shuffle(names)
    values = {
        "id": str(random.randint(0, 10**9)),
        "name": json.dumps(random.choice(_TEXTS), ensure_ascii=False),
        "active": random.choice(["true", "false"]),
        "score": random.choice([repr(random.random() * 1000), "null", random.choice(_NUMBERS)]),
        "note": random.choice(["null", '"x"']),
        "tags": random.choice(["[]", '["a","b"]', "[1,2]"]),
    }
    comma, colon = random.choice(_SEPARATORS[1:3])
    return ("{" + comma.join(f'"{n}"{colon}{values[n]}' for n in names[: random.choice([2, 6, 6])]) + "}").encode()


def _schemaless(random: Random) -> bytes | None:
    return _rows(random) if random.random() < 0.7 else _json_text(random, random.choice([0, 1, 2])).encode()


_FIELDS = [
    {"field": "id", "type": "int64", "optional": False},
    {"field": "text", "type": "string", "optional": True},
    {"field": "double", "type": "double", "optional": True},
    {"field": "flag", "type": "boolean", "optional": True, "default": True},
    {"field": "at", "type": "int64", "optional": True, "name": "org.apache.kafka.connect.data.Timestamp", "version": 1},
    {"field": "day", "type": "int32", "optional": True, "name": "org.apache.kafka.connect.data.Date", "version": 1},
    {"field": "time", "type": "int32", "optional": True, "name": "org.apache.kafka.connect.data.Time", "version": 1},
]  # fmt: skip
_STRUCT = json.dumps({"type": "struct", "fields": _FIELDS, "optional": False}, separators=(",", ":"))


def _struct(random: Random) -> bytes:
    values: dict[str, Any] = {
        "id": random.randint(-(2**63), 2**63 - 1),
        "text": random.choice([None, *_TEXTS]),
        "double": random.choice([None, 0.0, -0.0, 1e7, random.random(), 1.5e-12]),
        "flag": random.choice([True, False]),
        "at": random.choice([None, 0, -1, random.randint(-(10**13), 10**13)]),
        "day": random.choice([None, 0, random.randint(-(10**5), 10**5)]),
        "time": random.choice([None, 0, 86_399_999]),
    }
    if random.random() < 0.05:
        values[random.choice(list(values))] = random.choice([None, 86_400_000, -1, 2**62, "text", 1.5])
    if random.random() < 0.1:
        del values[random.choice(list(values))]
    payload = json.dumps(values, separators=(",", ":"), ensure_ascii=random.random() < 0.1)
    return f'{{"schema":{_STRUCT},"payload":{payload}}}'.encode()


def _text_in_envelope(random: Random) -> bytes:
    payload = json.dumps(random.choice(_TEXTS), ensure_ascii=random.random() < 0.1) if random.random() < 0.95 else "5"
    return f'{{"schema":{{"type":"string","optional":true}},"payload":{payload}}}'.encode()


def _with(usual: Draw, *others: bytes | None) -> Draw:
    return lambda random: usual(random) if random.random() < 0.97 else random.choice([None, None, *others])


_CASES: dict[str, tuple[str, dict[str, str], Draw]] = {
    "strings": ("StringConverter", {}, _with(lambda r: r.choice(_TEXTS).encode(), b"\xff", b"a\xc3", b"\xed\xa0\x80")),
    "bytes": ("ByteArrayConverter", {}, _with(lambda r: r.randbytes(r.choice([0, 1, 20])))),
    "integers": ("IntegerConverter", {}, _with(lambda r: r.randbytes(4), b"", b"12345")),
    "booleans": ("BooleanConverter", {}, _with(lambda r: r.choice([b"\0", b"\x01"]), b"", b"\x02")),
    "doubles": (
        "DoubleConverter",
        {},
        _with(lambda r: struct.pack(">d", r.choice([0.0, -0.0, 1e7, r.random()])), b"1"),
    ),
    "structs": ("JsonConverter", {}, _with(_struct, b"", b"{}", b"null", b'{"schema":null,"payload":1}')),
    "texts in envelopes": ("JsonConverter", {}, _with(_text_in_envelope, b"", b"null")),
    "schemaless": ("JsonConverter", {"schemas.enable": "false"}, _with(_schemaless, *_WRONG)),
}
_SINKS: dict[str, NativeSinkConnector] = {
    "text": FileStreamSinkConnector({"name": "sink", "topics": "t"}),
    "json": DirectorySinkConnector({"name": "sink", "topics": "t", "directory": "/tmp"}),
    "parquet": DirectorySinkConnector({"name": "sink", "topics": "t", "directory": "/tmp", "format": "parquet"}),
}


_PACKAGES = {"StringConverter": "org.apache.kafka.connect.storage", "JsonConverter": "org.apache.kafka.connect.json"}


def _written(rows: pa.RecordBatch) -> list[str]:
    """The texts, the lines, or the rows of a Parquet file."""
    if "row" in rows.schema.names:
        # Python has neither all dates nor equal NaN.
        return [str(rows.column("row").slice(n, 1)) for n in range(rows.num_rows)]
    if "line" in rows.schema.names:
        return [str(line) for line in rows.column("line").cast(pa.string()).to_pylist()]
    file = io.BytesIO()
    TextEncoder(file, "none").write(encodable(rows))
    return file.getvalue().decode().split("\n")[:-1]


def _converter(name: str, config: dict[str, str]) -> Converter:
    package = _PACKAGES.get(name, "org.apache.kafka.connect.converters")
    return new_converter(f"{package}.{name}", {f"value.converter.{key}": value for key, value in config.items()}, {})


def _by_arrow(
    renderer: BatchRenderer | None, decoder: PartDecoder, messages: Sequence[bytes | None]
) -> list[str] | None:
    """As `without_jvm` does it: all messages of a batch are of one shape, or null."""
    parsed: dict[int, pa.Array] = {}
    for name, parser in decoder.plain_parsers.items():
        column = parser.parse(pa.array(messages, pa.binary()))
        if all(cell.is_valid or message is None for cell, message in zip(column, messages, strict=True)):
            parsed[int(name.rpartition("_")[2])] = column
    if renderer is None or len(parsed) != 1:
        return None
    [(number, column)] = parsed.items()
    rows = renderer.render(pa.array(range(len(messages))), None, (number, column))
    return None if rows is None else _written(rows)


def _by_catalyst(
    spark: SparkSession, sink: NativeSinkConnector, decoder: PartDecoder, messages: Messages
) -> list[str | None]:
    """What becomes of each message; None if it is a bad record."""
    table = pa.table({"value": pa.array(messages, pa.binary()), "kafka_offset": pa.array(range(len(messages)))})
    frame = decoded_frame(spark.createDataFrame(table).withColumn("error", F.lit(None).cast("string")), None, decoder)
    rendered: DataFrame = sink.render(frame)
    rows = rendered.orderBy("kafka_offset").toArrow().combine_chunks().to_batches()[0]
    errors = rows.column("error")
    return [line if not error.is_valid else None for line, error in zip(_written(rows), errors, strict=True)]


_IN_CI = {
    ("structs", "json"),
    ("structs", "parquet"),
    ("schemaless", "text"),
    ("schemaless", "json"),
    ("bytes", "json"),
}


@pytest.mark.parametrize(
    ("case", "sink", "seed"),
    [
        pytest.param(case, sink, seed, marks=[] if seed == 0 and (case, sink) in _IN_CI else [pytest.mark.exhaustive])
        for case in _CASES
        for sink in _SINKS
        for seed in range(2)
    ],
)
def test_random_messages(spark: SparkSession, case: str, sink: str, seed: int) -> None:
    name, config, draw = _CASES[case]
    random, decoder = Random(seed), PartDecoder("value", _converter(name, config))
    batches = [[draw(random) for _ in range(random.choice([1, 2, 4]))] for _ in range(_BATCHES)]
    messages = [message for batch in batches for message in batch]
    decoder.learn([message for message in messages if message is not None])
    renderer = _SINKS[sink].batch_renderer((), decoder.shapes)
    expected = iter(_by_catalyst(spark, _SINKS[sink], decoder, messages))

    made = 0
    for batch in batches:
        lines, by_catalyst = _by_arrow(renderer, decoder, batch), [next(expected) for _ in batch]
        assert lines is None or lines == by_catalyst, batch
        made += lines is not None
    assert made > _BATCHES / 4
