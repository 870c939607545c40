"""The directory sink on Spark: every shape of value, to files."""

from __future__ import annotations

import datetime
import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import fastavro
import pyarrow.parquet as pq
import pytest
from pyspark.sql import Row as SparkRow
from pyspark.sql import SparkSession

from airflow_kconnect.connect.data import (
    BYTES_SCHEMA,
    DATE,
    DECIMAL,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_BYTES_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    SCHEMALESS,
    STRING_SCHEMA,
    TIMESTAMP,
    ConnectSchema,
    SchemaType,
    Shape,
    struct,
)
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.directory.sink import DirectorySinkConnector
from tests.support.connectors.sinks import Row, record_frame, run_sink

PRICE = ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "2"})
NAN = float("nan")
DAY = ConnectSchema(SchemaType.INT32, name=DATE)
INSTANT = ConnectSchema(SchemaType.INT64, name=TIMESTAMP)
TAGS = ConnectSchema(SchemaType.ARRAY, value_schema=OPTIONAL_STRING_SCHEMA)
ORDER = struct(
    ("id", INT64_SCHEMA), ("a.b", OPTIONAL_STRING_SCHEMA), ("raw", OPTIONAL_BYTES_SCHEMA), ("price", PRICE),
    ("day", DAY), ("at", INSTANT), ("tags", TAGS),
)  # fmt: skip
ROW = (
    1,
    None,
    b"\xff",
    Decimal("1.50"),
    datetime.date(2024, 1, 2),
    datetime.datetime(2024, 1, 2, 3, 4, 5),
    ["ü", None],
)
SHAPES = (Shape(ORDER), Shape(STRING_SCHEMA), SCHEMALESS, Shape(BYTES_SCHEMA), Shape(FLOAT64_SCHEMA), Shape(TAGS))


def sink(folder: Path, **props: str) -> DirectorySinkConnector:
    return DirectorySinkConnector({"directory": str(folder), **props})


def files(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / "t" / "partition=0").iterdir())


LINES = [
    pytest.param(
        (0, ROW),
        '{"id":1,"a.b":null,"raw":"/w==","price":1.50,"day":"2024-01-02","at":"2024-01-02T03:04:05.000Z",'
        '"tags":["ü",null]}',
        id="struct",
    ),
    pytest.param((0, None), "null", id="a struct that is null"),
    pytest.param((1, 'a"b\nü'), '"a\\"b\\nü"', id="string"),
    pytest.param((1, ""), '""', id="empty string"),
    pytest.param((2, '{"z":1,"a":[null,"x",1.5]}'), '{"a":[null,"x",1.5],"z":1}', id="schemaless object"),
    pytest.param((2, '"text"'), '"text"', id="schemaless string"),
    pytest.param((2, "null"), "null", id="schemaless null"),
    pytest.param((3, b"\x00\x01"), '"AAE="', id="bytes"),
    pytest.param((4, 0.1), "0.1", id="double"),
    pytest.param((4, NAN), '"NaN"', id="not a number"),
    pytest.param((5, ["a", None]), '["a",null]', id="array"),
    pytest.param((None, None), "null", id="no value"),
]


@pytest.fixture(scope="module")
def json_lines(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The lines of all values in the table, from one run."""
    folder = tmp_path_factory.mktemp("json")
    rows = [cast(Row, param.values[0]) for param in LINES]
    run_sink(sink(folder), record_frame(spark, SHAPES, rows))
    (path,) = files(folder)
    return path.read_text().splitlines()


@pytest.mark.parametrize(("row", "line"), LINES)
def test_json_line_of_a_value(json_lines: list[str], row: Row, line: str) -> None:
    assert json_lines[[param.values[0] for param in LINES].index(row)] == line


def mapping(keys: ConnectSchema, values: ConnectSchema = STRING_SCHEMA) -> ConnectSchema:
    return ConnectSchema(SchemaType.MAP, key_schema=keys, value_schema=values)


DEEP = struct(
    ("lists", ConnectSchema(SchemaType.ARRAY, value_schema=ConnectSchema(SchemaType.ARRAY, value_schema=PRICE))),
    ("item", struct(("price", PRICE), ("day", DAY), ("at", INSTANT), ("raw", BYTES_SCHEMA)).as_optional()),
    ("items", ConnectSchema(SchemaType.ARRAY, value_schema=struct(("tags", TAGS), ("x", FLOAT64_SCHEMA)))),
    ("by_name", mapping(STRING_SCHEMA, mapping(STRING_SCHEMA, INSTANT))),
    ("by_number", mapping(INT32_SCHEMA)),
    ("by_day", mapping(DAY)),
    ("by_bytes", mapping(BYTES_SCHEMA)),
    ("by_instant", ConnectSchema(SchemaType.ARRAY, value_schema=mapping(INSTANT))),
    ("by_struct", mapping(struct(("a", INT32_SCHEMA)))),
)
AT = datetime.datetime(2024, 1, 2, 3, 4, 5)
DEEP_ROW = (
    [[Decimal("1.50")], []],
    (Decimal("2.00"), datetime.date(2024, 1, 2), AT, b"\xff"),
    [(["a", None], 0.5), ([], -1.0)],
    {"x": {"y": AT}},
    {3: "c"},
    {datetime.date(2024, 1, 2): "d"},
    {b"\xff\x00": "b"},
    [{AT: "i"}],
    {SparkRow(a=1): "s"},
)


def test_json_of_nested_values(spark: SparkSession, tmp_path: Path) -> None:
    frame = record_frame(spark, (Shape(DEEP),), [(0, DEEP_ROW)])
    run_sink(sink(tmp_path), frame)
    (path,) = files(tmp_path)
    assert path.read_text().strip() == (
        '{"lists":[[1.50],[]],'
        '"item":{"price":2.00,"day":"2024-01-02","at":"2024-01-02T03:04:05.000Z","raw":"/w=="},'
        '"items":[{"tags":["a",null],"x":0.5},{"tags":[],"x":-1.0}],'
        '"by_name":{"x":{"y":"2024-01-02T03:04:05.000Z"}},"by_number":{"3":"c"},"by_day":{"2024-01-02":"d"},'
        '"by_bytes":{"/wA=":"b"},"by_instant":[{"2024-01-02T03:04:05.000Z":"i"}],"by_struct":{"{\\"a\\":1}":"s"}}'
    )


def test_parquet_of_nested_values(spark: SparkSession, tmp_path: Path) -> None:
    at = AT.replace(tzinfo=datetime.UTC)
    nothing = [None] * len(DEEP.fields)
    found = parquet(spark, tmp_path, [(0, DEEP_ROW), (None, None)], (Shape(DEEP),))
    item = {"price": Decimal("2.00"), "day": datetime.date(2024, 1, 2), "at": at, "raw": b"\xff"}
    values = [
        DEEP_ROW[0],
        item,
        [{"tags": ["a", None], "x": 0.5}, {"tags": [], "x": -1.0}],
        [("x", [("y", at)])],
        [(3, "c")],
        [(datetime.date(2024, 1, 2), "d")],
        [(b"\xff\x00", "b")],
        [[(at, "i")]],
        [({"a": 1}, "s")],
    ]
    assert [list(row.values()) for row in found] == [values, nothing]


def test_json_files_of_many_records(spark: SparkSession, tmp_path: Path) -> None:
    rows: list[Row] = [(1, f"text {n}") if n % 3 else (4, float(n)) for n in range(3500)]
    facts, _ = run_sink(sink(tmp_path, **{"flush.size": "1500"}), record_frame(spark, SHAPES, rows, 5), 5)
    assert facts == {"files": 3, "records": 3500, "replaced_files": 0}
    assert [path.name for path in files(tmp_path)] == [f"t+0+{n:010d}.json" for n in (5, 1505, 3005)]
    lines = [json.loads(line) for path in files(tmp_path) for line in path.read_text().splitlines()]
    assert lines == [value for _, value in rows]


def parquet(spark: SparkSession, folder: Path, rows: list[Row], shapes: tuple[Shape, ...]) -> list[dict[str, Any]]:
    run_sink(sink(folder, format="parquet"), record_frame(spark, shapes, rows))
    (path,) = files(folder)
    table: list[dict[str, Any]] = pq.read_table(path, partitioning=None).to_pylist()
    return table


def test_parquet_has_the_members_of_a_struct_as_columns(spark: SparkSession, tmp_path: Path) -> None:
    found = parquet(spark, tmp_path, [(0, ROW), (None, None)], SHAPES[:1])
    names = [field.name for field in ORDER.fields]
    at = datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
    assert found == [dict(zip(names, (*ROW[:5], at, ROW[6]), strict=True)), dict.fromkeys(names)]


def test_parquet_has_the_members_of_all_shapes(spark: SparkSession, tmp_path: Path) -> None:
    shapes = (
        Shape(struct(("id", INT32_SCHEMA), ("old", STRING_SCHEMA))),
        Shape(struct(("id", INT64_SCHEMA), ("new", STRING_SCHEMA))),
        SCHEMALESS,
    )
    found = parquet(spark, tmp_path, [(0, (1, "a")), (1, (1 << 40, "b")), (2, '{"x":1}'), (2, "null")], shapes)
    nothing = {"id": None, "old": None, "new": None, "value": None}
    assert found == [
        {**nothing, "id": 1, "old": "a"},
        {**nothing, "id": 1 << 40, "new": "b"},
        {**nothing, "value": '{"x":1}'},
        nothing,
    ]


def test_parquet_of_values_that_are_not_structs(spark: SparkSession, tmp_path: Path) -> None:
    assert parquet(spark, tmp_path, [(0, b"\x00"), (None, None)], SHAPES[3:4]) == [{"value": b"\x00"}, {"value": None}]


def test_parquet_refuses_types_that_do_not_fit(spark: SparkSession, tmp_path: Path) -> None:
    shapes = (Shape(struct(("id", INT32_SCHEMA))), Shape(struct(("id", STRING_SCHEMA))))
    with pytest.raises(DataError, match="field `id` is int in some records and string in others"):
        sink(tmp_path, format="parquet").render(record_frame(spark, shapes, [(0, (1,))]))


def test_offsets_written_twice_are_there_once(spark: SparkSession, tmp_path: Path) -> None:
    """The first run was killed before its offsets were committed; the second sees more records, in other files."""
    rows: list[Row] = [(1, str(n)) for n in range(10)]
    run_sink(sink(tmp_path, **{"flush.size": "3"}), record_frame(spark, SHAPES, rows[:8]))
    run_sink(sink(tmp_path, **{"flush.size": "4"}), record_frame(spark, SHAPES, rows))
    assert [path.name for path in files(tmp_path)] == [f"t+0+{n:010d}.json" for n in (0, 4, 8)]
    assert "".join(path.read_text() for path in files(tmp_path)) == "".join(f'"{n}"\n' for n in range(10))


def written(spark: SparkSession, folder: Path, rows: list[Row], shapes: tuple[Shape, ...], **props: str) -> Path:
    run_sink(sink(folder, **props), record_frame(spark, shapes, rows))
    (path,) = files(folder)
    return path


def test_avro_has_the_same_rows_as_parquet(spark: SparkSession, tmp_path: Path) -> None:
    rows: list[Row] = [(0, DEEP_ROW), (None, None)]
    path = written(spark, tmp_path / "avro", rows, (Shape(DEEP),), format="avro", compression="deflate")
    with path.open("rb") as opened:
        found = [dict(cast("dict[str, Any]", each)) for each in fastavro.reader(opened)]
    expected = parquet(spark, tmp_path / "parquet", rows, (Shape(DEEP),))
    for row in expected:
        for name in ("by_number", "by_day", "by_bytes", "by_struct"):
            row[name] = row[name] and [{"key": key, "value": value} for key, value in row[name]]
        for name in ("by_name",):
            row[name] = row[name] and {key: dict(value) for key, value in row[name]}
        row["by_instant"] = row["by_instant"] and [
            [{"key": k, "value": v} for k, v in each] for each in row["by_instant"]
        ]
    assert found == expected


def test_text_has_the_lines_of_the_file_sink(spark: SparkSession, tmp_path: Path) -> None:
    rows: list[Row] = [(1, "a b"), (4, 0.1), (2, '{"x":1}'), (None, None)]
    path = written(spark, tmp_path, rows, SHAPES, format="text", compression="gzip")
    assert path.name == "t+0+0000000000.txt.gz"
    assert gzip.decompress(path.read_bytes()) == b'a b\n0.1\n{"x":1}\nnull\n'


def test_bytes_are_stored_as_they_are(spark: SparkSession, tmp_path: Path) -> None:
    rows: list[Row] = [(3, b"\xff\x00"), (1, "ü"), (None, None)]
    path = written(spark, tmp_path, rows, SHAPES, **{"format": "bytes", "format.bytearray.separator": "||"})
    assert path.read_bytes() == b"\xff\x00||\xc3\xbc||||"


def test_values_that_are_no_bytes_are_bad_records(spark: SparkSession, tmp_path: Path) -> None:
    rows = sink(tmp_path, format="bytes").render(record_frame(spark, SHAPES, [(4, 0.1), (3, b"x")]))
    first, second = (row.error for row in rows.orderBy("kafka_offset").collect())
    assert "`format` bytes stores bytes and texts, and the value is" in first
    assert second is None


def test_spark_reads_lines_in_the_format_of_hadoop(spark: SparkSession, tmp_path: Path) -> None:
    rows: list[Row] = [(1, f"text {n}") for n in range(20_000)]
    path = written(spark, tmp_path, rows, SHAPES[:2], compression="snappy")
    assert path.name == "t+0+0000000000.json.snappy"
    assert [json.loads(row.value) for row in spark.read.text(str(path)).collect()] == [text for _, text in rows]
