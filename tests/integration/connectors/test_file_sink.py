"""FileStreamSink on Spark: the text of every shape of value, in one file."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import cast

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    DATE,
    DECIMAL,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    SCHEMALESS,
    STRING_SCHEMA,
    TIME,
    TIMESTAMP,
    ConnectSchema,
    SchemaType,
    Shape,
    struct,
)
from airflow_kconnect.connectors.file.sink import FileStreamSinkConnector
from tests.support.connectors.sinks import Row, record_frame, run_sink

TAGS = ConnectSchema(SchemaType.ARRAY, value_schema=OPTIONAL_STRING_SCHEMA)
COUNTS = ConnectSchema(SchemaType.MAP, key_schema=STRING_SCHEMA, value_schema=INT32_SCHEMA)
INNER = struct(("x", BOOLEAN_SCHEMA))
SHAPES = (
    Shape(struct(("a", INT32_SCHEMA), ("b", OPTIONAL_STRING_SCHEMA), ("c", INNER), ("d", TAGS))),
    Shape(STRING_SCHEMA),
    SCHEMALESS,
    Shape(BYTES_SCHEMA),
    Shape(FLOAT64_SCHEMA),
    Shape(COUNTS),
    Shape(ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "2"})),
    Shape(ConnectSchema(SchemaType.INT32, name=DATE)),
    Shape(ConnectSchema(SchemaType.INT32, name=TIME)),
    Shape(ConnectSchema(SchemaType.INT64, name=TIMESTAMP)),
    Shape(ConnectSchema(SchemaType.BYTES, name="named")),
    Shape(ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "9"})),
)


TEXTS = [
    pytest.param((0, (1, "x", (True,), ["p", None])), "Struct{a=1,b=x,c=Struct{x=true},d=[p, null]}", id="struct"),
    pytest.param((0, (1, None, None, None)), "Struct{a=1}", id="members without value are left out"),
    pytest.param((0, (None, None, None, None)), "Struct{}", id="empty struct"),
    pytest.param((0, None), "null", id="null struct"),
    pytest.param((1, 'a"ü'), 'a"ü', id="string"),
    pytest.param((2, '"text"'), "text", id="schemaless string"),
    pytest.param((2, '{"a":[1,null]}'), '{"a":[1,null]}', id="schemaless object"),
    pytest.param((2, "1.5"), "1.5", id="schemaless number"),
    pytest.param((2, "null"), "null", id="schemaless null"),
    pytest.param((3, b"\x00\x01"), "AAE=", id="bytes"),
    pytest.param((3, b"x" * 60), "eHh4" * 20, id="many bytes on one line"),
    pytest.param((10, b"\xff"), "/w==", id="bytes with a name"),
    pytest.param((11, Decimal("0.000000120")), "1.20E-7", id="small decimal as in Java"),
    pytest.param((4, 1e10), "1.0E10", id="double as in Java"),
    pytest.param((4, 100.0), "100.0", id="whole double"),
    pytest.param((5, {"k": 1}), "{k=1}", id="map"),
    pytest.param((6, Decimal("12.30")), "12.30", id="decimal"),
    pytest.param((7, datetime.date(2024, 1, 2)), "Tue Jan 02 00:00:00 UTC 2024", id="date"),
    pytest.param((8, 3_661_000), "Thu Jan 01 01:01:01 UTC 1970", id="time"),
    pytest.param((9, datetime.datetime(2024, 1, 2, 3, 4, 5)), "Tue Jan 02 03:04:05 UTC 2024", id="timestamp"),
    pytest.param((None, None), "null", id="no value"),
]


@pytest.fixture(scope="module")
def texts(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The texts of all values in the table, from one run."""
    target = tmp_path_factory.mktemp("text") / "out.txt"
    rows = [cast(Row, param.values[0]) for param in TEXTS]
    sink = FileStreamSinkConnector({"name": "out", "file": str(target)})
    run_sink(sink, record_frame(spark, SHAPES, rows))
    return target.read_text().splitlines()


@pytest.mark.parametrize(("row", "text"), TEXTS)
def test_text_of_a_value(texts: list[str], row: Row, text: str) -> None:
    assert texts[[param.values[0] for param in TEXTS].index(row)] == text


def test_runs_append(spark: SparkSession, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    sink = FileStreamSinkConnector({"name": "out", "file": str(target)})
    rows: list[Row] = [(1, str(n)) for n in range(3000)]
    for first in (0, 1000, 2000):
        frame = record_frame(spark, SHAPES, rows[first : first + 1000], first)
        run_sink(sink, frame, first)
    assert target.read_text() == "".join(f"{n}\n" for n in range(3000))
    assert list(tmp_path.iterdir()) == [target]
