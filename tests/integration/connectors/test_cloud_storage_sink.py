"""Confluent's sinks on Spark: folders, bounds, formats, keys, headers and bad records. Files are on this machine."""

from __future__ import annotations

import datetime
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import fastavro
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.data import (
    BYTES_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    SCHEMALESS,
    STRING_SCHEMA,
    TIMESTAMP,
    ConnectSchema,
    SchemaType,
    Shape,
    struct,
)
from airflow_kconnect.connect.error_cells import record_error
from airflow_kconnect.connect.errors import DataError, FencedError
from airflow_kconnect.connect.frame import RecordFrame, single
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.cloud_storage.s3 import S3SinkConnector
from airflow_kconnect.places.address import Address
from tests.support.connectors.sinks import Row, record_frame, run_sink, written

HOUR = 3_600_000
P0 = TopicPartition("t", 0)
EVENT = struct(("id", INT64_SCHEMA), ("city", OPTIONAL_STRING_SCHEMA), ("at", INT64_SCHEMA))
BY_FIELD = {"partitioner.class": "FieldPartitioner", "partition.field.name": "city"}
BY_HOUR = {
    "partitioner.class": "TimeBasedPartitioner",
    "path.format": "'day'=dd/'hour'=HH",
    "partition.duration.ms": str(HOUR),
    "locale": "en",
    "timezone": "UTC",
    "timestamp.extractor": "RecordField",
    "timestamp.field": "at",
}


class LocalSink(S3SinkConnector):
    """Its bucket is a folder."""

    @classmethod
    def address(cls, values: Mapping[str, Any]) -> Address:
        return Address("file", "", values["s3.bucket.name"])

    @classmethod
    def store_values(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        return {}


def sink(folder: Path, **props: str) -> LocalSink:
    return LocalSink({"s3.bucket.name": str(folder), "format.class": "JsonFormat", "flush.size": "1000", **props})


def run(connector: LocalSink, frame: RecordFrame, start: int = 0) -> list[str]:
    """A run of one round; returns the errors of bad records."""
    return run_sink(connector, frame, start)[1]


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def lines(folder: Path) -> dict[str, list[Any]]:
    return {name: [json.loads(line) for line in (folder / name).read_text().splitlines()] for name in names(folder)}


def events(spark: SparkSession, *rows: tuple[int, str | None, int], first: int = 0) -> RecordFrame:
    return record_frame(spark, (Shape(EVENT),), [(0, row) for row in rows], first)


def with_columns(
    frame: RecordFrame, spark: SparkSession, columns: Mapping[str, tuple[str, Sequence[Any]]]
) -> RecordFrame:
    """The frame with further columns, by name: type, and the values of the rows."""
    schema = ", ".join(["kafka_offset long", *(f"{name} {kind}" for name, (kind, _) in columns.items())])
    data = [(n, *row) for n, row in enumerate(zip(*(values for _, values in columns.values()), strict=True))]
    more = spark.createDataFrame(data, schema)
    return frame.with_df(frame.df.join(more, "kafka_offset").coalesce(1).sortWithinPartitions("kafka_offset"))


def test_names_and_bounds_by_default(spark: SparkSession, tmp_path: Path) -> None:
    run(sink(tmp_path, **{"flush.size": "2"}), events(spark, *((n, "x", 0) for n in range(10, 15)), first=10), 10)
    assert lines(tmp_path) == {
        "topics/t/partition=0/t+0+0000000010.json": [{"id": n, "city": "x", "at": 0} for n in (10, 11)],
        "topics/t/partition=0/t+0+0000000012.json": [{"id": n, "city": "x", "at": 0} for n in (12, 13)],
        "topics/t/partition=0/t+0+0000000014.json": [{"id": 14, "city": "x", "at": 0}],
    }


def test_files_of_fields_fill_up_side_by_side(spark: SparkSession, tmp_path: Path) -> None:
    cities = ["a", "b", "a", "a", "b", None]
    run(sink(tmp_path, **BY_FIELD, **{"flush.size": "2"}), events(spark, *((n, c, 0) for n, c in enumerate(cities))))
    assert {name: [row["id"] for row in rows] for name, rows in lines(tmp_path).items()} == {
        "topics/t/city=a/t+0+0000000000.json": [0, 2],
        "topics/t/city=a/t+0+0000000003.json": [3],
        "topics/t/city=b/t+0+0000000001.json": [1, 4],
        "topics/t/city=null/t+0+0000000005.json": [5],
    }


def test_late_records_join_the_open_file_of_their_hour(spark: SparkSession, tmp_path: Path) -> None:
    moments = [0, HOUR, 10, HOUR + 10, 20, HOUR // 2, HOUR + HOUR // 2]
    connector = sink(tmp_path, **BY_HOUR, **{"rotate.interval.ms": str(HOUR // 2)})
    run(connector, events(spark, *((n, "x", at) for n, at in enumerate(moments))))
    assert {name: [row["id"] for row in rows] for name, rows in lines(tmp_path).items()} == {
        "topics/t/day=01/hour=00/t+0+0000000000.json": [0, 2, 4],
        "topics/t/day=01/hour=00/t+0+0000000005.json": [5],
        "topics/t/day=01/hour=01/t+0+0000000001.json": [1, 3],
        "topics/t/day=01/hour=01/t+0+0000000006.json": [6],
    }


def test_timestamps_of_records_and_records_without_one(spark: SparkSession, tmp_path: Path) -> None:
    frame = record_frame(spark, (Shape(STRING_SCHEMA),), [(0, "a"), (0, "b"), (0, "c")])
    frame = with_columns(frame, spark, {"timestamp": ("long", [0, None, HOUR])})
    frame = replace(frame, timestamp="timestamp")
    (error,) = run(sink(tmp_path, **{**BY_HOUR, "timestamp.extractor": "Record"}), frame)
    assert "the record has no timestamp in Kafka" in error
    assert lines(tmp_path) == {
        "topics/t/day=01/hour=00/t+0+0000000000.json": ["a"],
        "topics/t/day=01/hour=01/t+0+0000000002.json": ["c"],
    }


INSTANT = ConnectSchema(SchemaType.INT64, name=TIMESTAMP)
MOMENTS = [
    pytest.param((0, '{"at": 7200000}'), "hour=02", id="number"),
    pytest.param((0, '{"at": "1970-01-01T03:30:00Z"}'), "hour=03", id="text"),
    pytest.param((0, '{"at": "1970-01-01T03:30:00+02:00"}'), "hour=01", id="text with a zone"),
    pytest.param((0, '{"at": "21600000"}'), "hour=06", id="number as text"),
    pytest.param((0, '{"at": "2024"}'), "hour=00", id="short number as text"),
    pytest.param((0, '{"at": "T13:30:00Z"}'), "null, or is not a moment", id="a time without a date"),
    pytest.param((0, '{"at": null}'), "null, or is not a moment", id="null"),
    pytest.param((0, '{"at": "soon"}'), "null, or is not a moment", id="no moment"),
    pytest.param((0, '{"other": 1}'), "null, or is not a moment", id="no such field, schemaless"),
    pytest.param((0, "[1]"), "null, or is not a moment", id="no object"),
    pytest.param((1, ("1970-01-01T04:00:00Z",)), "hour=04", id="text of a struct"),
    pytest.param((1, ("18000000",)), "hour=05", id="number as text of a struct"),
    pytest.param((2, (1,)), "has no field `at`", id="no such field"),
    pytest.param((3, (10**17,)), "within the years", id="a moment that is out of range"),
    pytest.param((4, "x"), "has no field `at`", id="no struct"),
]
MOMENT_SHAPES = (
    SCHEMALESS,
    Shape(struct(("at", STRING_SCHEMA))),
    Shape(struct(("id", INT64_SCHEMA))),
    Shape(struct(("at", INT64_SCHEMA))),
    Shape(STRING_SCHEMA),
)


def test_moments_in_fields_and_records_without_one(spark: SparkSession, tmp_path: Path) -> None:
    rows = [cast(Row, param.values[0]) for param in MOMENTS]
    errors = run(sink(tmp_path, **{**BY_HOUR, "path.format": "'hour'=HH"}), record_frame(spark, MOMENT_SHAPES, rows))
    found = {int(name.rpartition("+")[2].split(".")[0]): name.split("/")[2] for name in names(tmp_path)}
    bad = iter(errors)
    for n, param in enumerate(MOMENTS):
        expected = str(param.values[1])
        if expected.startswith("hour="):
            assert found[n] == expected, param.id
        else:
            error = record_error(next(bad))
            assert error is not None
            assert expected in error.message, param.id


FIELDS = [
    pytest.param((0, '{"city": "x", "n": 1}'), "city=x/n=1", id="text and number"),
    pytest.param((0, '{"city": true, "n": 1.5}'), "city=true/n=1.5", id="boolean and decimal"),
    pytest.param((0, '{"city": {"a": 1}, "n": 1}'), "object or a list", id="object"),
    pytest.param((0, '{"city": "x"}'), "has no field `n`", id="missing"),
    pytest.param((1, ("a/b", 2)), "city=a/b/n=2", id="struct"),
    pytest.param((1, ("a/../b", 2)), "can be a folder", id="two dots"),
    pytest.param((1, ("a//b", 2)), "can be a folder", id="an empty name"),
    pytest.param((1, ("x" * 600, 2)), "more than 600 bytes", id="a long text"),
    pytest.param((2, (b"x", 2)), "only texts, integers", id="bytes"),
]


def test_fields_that_make_folders(spark: SparkSession, tmp_path: Path) -> None:
    shapes = (
        SCHEMALESS,
        Shape(struct(("city", STRING_SCHEMA), ("n", INT64_SCHEMA))),
        Shape(struct(("city", BYTES_SCHEMA), ("n", INT64_SCHEMA))),
    )
    rows = [cast(Row, param.values[0]) for param in FIELDS]
    props = BY_FIELD | {"partition.field.name": "city,n"}
    bad = iter(run(sink(tmp_path, **props), record_frame(spark, shapes, rows)))
    found = {int(name.rpartition("+")[2].split(".")[0]): name for name in names(tmp_path)}
    for n, param in enumerate(FIELDS):
        expected = str(param.values[1])
        if expected.startswith("city="):
            assert found[n] == f"topics/t/{expected}/t+0+{n:010d}.json"
        else:
            assert expected in str(record_error(next(bad))), param.id


def test_values_without_schema_and_without_data(spark: SparkSession, tmp_path: Path) -> None:
    rows: list[Row] = [(0, '{"b":1,"a":[null]}'), (0, '"x"'), (1, b"\xff"), (2, None), (None, None), (0, "null")]
    shapes = (SCHEMALESS, Shape(BYTES_SCHEMA), Shape(OPTIONAL_STRING_SCHEMA))
    errors = run(sink(tmp_path), record_frame(spark, shapes, rows))
    assert lines(tmp_path)["topics/t/partition=0/t+0+0000000000.json"] == [{"b": 1, "a": [None]}, "x", "/w=="]
    assert len(errors) == 3
    assert all("`behavior.on.null.values` is fail" in error for error in errors)


def test_null_values_that_are_ignored_are_filtered(spark: SparkSession, tmp_path: Path) -> None:
    rows: list[Row] = [(0, "a"), (None, None), (0, "b")]
    errors = run(
        sink(tmp_path, **{"behavior.on.null.values": "ignore"}), record_frame(spark, (Shape(STRING_SCHEMA),), rows)
    )
    assert errors == ["\x03"]
    assert lines(tmp_path) == {"topics/t/partition=0/t+0+0000000000.json": ["a", "b"]}


def with_keys(spark: SparkSession, rows: Sequence[Row], keys: Sequence[str | None]) -> RecordFrame:
    frame = record_frame(spark, (Shape(STRING_SCHEMA),), rows)
    headers = [[("h", b"1")]] + [None] * (len(rows) - 1)
    frame = with_columns(
        frame,
        spark,
        {"key": ("string", keys), "headers": ("array<struct<key: string, value: binary>>", headers)},
    )
    return RecordFrame(
        frame.df,
        frame.value,
        key=single(Shape(OPTIONAL_STRING_SCHEMA), "key"),
        headers="headers",
        carried=frame.carried,
    )


STORED = {
    "store.kafka.keys": "true",
    "store.kafka.headers": "true",
    "keys.format.class": "JsonFormat",
    "headers.format.class": "JsonFormat",
}


def test_keys_and_headers_are_stored_beside(spark: SparkSession, tmp_path: Path) -> None:
    run(sink(tmp_path, **STORED), with_keys(spark, [(0, "a"), (0, "b")], ["k", None]))
    assert lines(tmp_path) == {
        "topics/t/partition=0/t+0+0000000000.json": ["a", "b"],
        "topics/t/partition=0/t+0+0000000000.keys.json": ["k", None],
        "topics/t/partition=0/t+0+0000000000.headers.json": [
            {"headers": [{"key": "h", "value": "1"}]},
            {"headers": []},
        ],
    }


def test_keys_of_null_values_have_a_folder_of_their_own(spark: SparkSession, tmp_path: Path) -> None:
    connector = sink(tmp_path, **STORED, **{"behavior.on.null.values": "write"})
    errors = run(connector, with_keys(spark, [(0, "a"), (None, None), (None, None)], ["k", "gone", None]))
    assert lines(tmp_path) == {
        "topics/t/partition=0/t+0+0000000000.json": ["a"],
        "topics/t/partition=0/t+0+0000000000.keys.json": ["k"],
        "topics/t/partition=0/t+0+0000000000.headers.json": [{"headers": [{"key": "h", "value": "1"}]}],
        "topics/t/tombstone/t+0+0000000001.keys.json": ["gone"],
        "topics/t/tombstone/t+0+0000000001.headers.json": [{"headers": []}],
    }
    assert "neither a value nor a key" in errors[0]


def test_a_value_in_the_folder_of_tombstones_is_a_bad_record(spark: SparkSession, tmp_path: Path) -> None:
    frame = events(spark, (0, "x", 0), (1, "tombstone", 0))
    frame = with_columns(frame, spark, {"key": ("string", ["a", "b"])})
    frame = replace(frame, key=single(Shape(OPTIONAL_STRING_SCHEMA), "key"))
    props = BY_FIELD | {"partition.field.format.path": "false", "behavior.on.null.values": "write"}
    (error,) = run(sink(tmp_path, **props, **{"store.kafka.keys": "true", "keys.format.class": "JsonFormat"}), frame)
    assert "the fields make the folder tombstone" in error
    assert sorted(lines(tmp_path)) == ["topics/t/x/t+0+0000000000.json", "topics/t/x/t+0+0000000000.keys.json"]


def test_parquet_has_the_columns_of_all_shapes(spark: SparkSession, tmp_path: Path) -> None:
    shapes = (Shape(struct(("id", INT64_SCHEMA))), Shape(struct(("id", INT64_SCHEMA), ("name", STRING_SCHEMA))))
    props = {"format.class": "ParquetFormat", "schema.compatibility": "BACKWARD"}
    run(sink(tmp_path, **props), record_frame(spark, shapes, [(0, (1,)), (1, (2, "x")), (0, (3,))]))
    (name,) = names(tmp_path)
    assert name == "topics/t/partition=0/t+0+0000000000.snappy.parquet"
    assert pq.read_table(tmp_path / name).to_pylist() == [
        {"id": 1, "name": None},
        {"id": 2, "name": "x"},
        {"id": 3, "name": None},
    ]


def test_keys_and_headers_in_parquet(spark: SparkSession, tmp_path: Path) -> None:
    props = {**STORED, "keys.format.class": "ParquetFormat", "headers.format.class": "ParquetFormat"}
    run(sink(tmp_path, **props), with_keys(spark, [(0, "a")], ["k"]))
    begin = str(tmp_path / "topics/t/partition=0/t+0+0000000000")
    assert pq.read_table(f"{begin}.keys.snappy.parquet").to_pylist() == [{"key": "k"}]
    assert pq.read_table(f"{begin}.headers.snappy.parquet").to_pylist() == [{"headers": [{"key": "h", "value": "1"}]}]


def test_structs_of_keys_are_a_column_in_parquet(spark: SparkSession, tmp_path: Path) -> None:
    frame = record_frame(spark, (Shape(STRING_SCHEMA),), [(0, "a"), (0, "b")])
    frame = with_columns(frame, spark, {"key": ("struct<id: bigint>", [(1,), None])})
    frame = replace(frame, key=single(Shape(struct(("id", INT64_SCHEMA))), "key"))
    run(sink(tmp_path, **{"store.kafka.keys": "true", "keys.format.class": "ParquetFormat"}), frame)
    found = pq.read_table(tmp_path / "topics/t/partition=0/t+0+0000000000.keys.snappy.parquet")
    assert found.to_pylist() == [{"key": {"id": 1}}, {"key": None}]


_CODECS = [pytest.param(codec, marks=pytest.mark.exhaustive) for codec in ("deflate", "bzip2")]


@pytest.mark.parametrize("codec", ["null", "xz", *_CODECS])
def test_avro_has_the_fields_of_all_shapes(spark: SparkSession, tmp_path: Path, codec: str) -> None:
    at = ConnectSchema(SchemaType.INT64, name=TIMESTAMP)
    shapes = (
        Shape(struct(("id", INT32_SCHEMA), ("item", struct(("n", INT64_SCHEMA))), name="shop.Order")),
        Shape(struct(("id", INT64_SCHEMA), ("item", struct(("m", STRING_SCHEMA))), ("at", at), name="shop.Order")),
    )
    rows: list[Row] = [(0, (1, (5,))), (1, (2**40, ("x",), datetime.datetime(2024, 1, 2)))]
    run(sink(tmp_path, **{"format.class": "AvroFormat", "avro.codec": codec}), record_frame(spark, shapes, rows))
    with (tmp_path / "topics/t/partition=0/t+0+0000000000.avro").open("rb") as opened:
        reader = fastavro.reader(opened)
        assert [*reader] == [
            {"id": 1, "item": {"n": 5, "m": None}, "at": None},
            {"id": 2**40, "item": {"n": None, "m": "x"}, "at": datetime.datetime(2024, 1, 2, tzinfo=datetime.UTC)},
        ]
    assert cast("dict[str, Any]", reader.writer_schema)["name"] == "shop.Order"


def test_keys_and_headers_in_avro_have_no_record_around_them(spark: SparkSession, tmp_path: Path) -> None:
    props = {"store.kafka.keys": "true", "store.kafka.headers": "true"}
    run(sink(tmp_path, **props), with_keys(spark, [(0, "a"), (0, "b")], ["k", None]))
    found = {}
    for part in ("keys", "headers"):
        with (tmp_path / f"topics/t/partition=0/t+0+0000000000.{part}.avro").open("rb") as opened:
            found[part] = [*fastavro.reader(opened)]
    assert found == {"keys": ["k", None], "headers": [[{"key": "h", "value": "1"}], []]}


def test_texts_among_structs_are_a_field_in_avro(spark: SparkSession, tmp_path: Path) -> None:
    shapes = (Shape(STRING_SCHEMA), Shape(struct(("id", INT64_SCHEMA))))
    run(sink(tmp_path, **{"format.class": "AvroFormat"}), record_frame(spark, shapes, [(1, (5,)), (0, "x")]))
    with (tmp_path / "topics/t/partition=0/t+0+0000000000.avro").open("rb") as opened:
        assert [*fastavro.reader(opened)] == [{"value": None, "id": 5}, {"value": "x", "id": None}]


def test_shapes_that_one_avro_file_cannot_hold(spark: SparkSession, tmp_path: Path) -> None:
    shapes = (Shape(struct(("a", INT64_SCHEMA))), Shape(struct(("a", STRING_SCHEMA))))
    with pytest.raises(DataError, match=r"field `a` of the value is int64, string in different records"):
        run(sink(tmp_path, **{"format.class": "AvroFormat"}), record_frame(spark, shapes, [(0, (1,)), (1, ("x",))]))


def test_a_start_within_a_file_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    run(sink(tmp_path, **BY_FIELD), events(spark, (5, "a", 0), (6, "b", 0), (7, "a", 0), first=5), 5)
    props = {"s3.bucket.name": str(tmp_path), "format.class": "JsonFormat", "flush.size": "1"}
    problems = {at: len(LocalSink.start_problems(props, {P0: at}, {P0: 8})) for at in (0, 5, 6, 7, 8, 9)}
    assert problems == {0: 0, 5: 0, 6: 1, 7: 1, 8: 0, 9: 0}


def test_bytes_as_they_are(spark: SparkSession, tmp_path: Path) -> None:
    props = {"format.class": "ByteArrayFormat", "s3.compression.type": "gzip", "format.bytearray.separator": ";"}
    errors = run(
        sink(tmp_path, **props),
        record_frame(spark, (Shape(BYTES_SCHEMA), Shape(STRING_SCHEMA)), [(0, b"\xff"), (1, "x"), (0, b"b")]),
    )
    path = tmp_path / "topics/t/partition=0/t+0+0000000000.bin.gz"
    assert gzip.decompress(path.read_bytes()) == b"\xff;b;"
    assert "ByteArrayConverter" in errors[0]


@pytest.mark.parametrize("limits", [{"kconnect.open.files.max": "2"}, {"kconnect.buffer.bytes": str(2**20)}])
def test_limits_leave_all_records(spark: SparkSession, tmp_path: Path, limits: dict[str, str]) -> None:
    shape = Shape(struct(("id", INT64_SCHEMA), ("city", STRING_SCHEMA), ("text", STRING_SCHEMA)))
    rows: list[Row] = [(0, (n, str(n % 7), "x" * 3000)) for n in range(2000)]
    run(sink(tmp_path, **BY_FIELD, **limits), record_frame(spark, (shape,), rows))
    assert sorted(row["id"] for of_file in lines(tmp_path).values() for row in of_file) == list(range(2000))


def test_what_a_killed_run_left_in_other_folders_is_replaced(spark: SparkSession, tmp_path: Path) -> None:
    old = sink(tmp_path, **BY_HOUR)
    old.prepare({P0: 5})
    split, facts, _ = written(old, events(spark, *((n, "x", n * HOUR) for n in range(5, 8)), first=5), 5)
    old.before_commit()
    old.commit([(split, facts)])  # killed before it commits the offsets
    kept = tmp_path / "topics/t/day=01/hour=09/t+1+0000000006.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("of another partition")
    run(
        sink(tmp_path, **{**BY_HOUR, "timezone": "+01:00"}),
        events(spark, *((n, "x", n * HOUR) for n in range(5, 9)), first=5),
        5,
    )
    assert names(tmp_path) == [
        "topics/t/day=01/hour=06/t+0+0000000005.json",
        "topics/t/day=01/hour=07/t+0+0000000006.json",
        "topics/t/day=01/hour=08/t+0+0000000007.json",
        "topics/t/day=01/hour=09/t+0+0000000008.json",
        "topics/t/day=01/hour=09/t+1+0000000006.json",
    ]


def test_a_run_that_was_overtaken_publishes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    old = sink(tmp_path, **BY_FIELD)
    old.prepare({P0: 0})
    split, facts, _ = written(old, events(spark, (0, "a", 0)))
    run(sink(tmp_path, **BY_FIELD), events(spark, (0, "a", 0), (1, "b", 0)))
    before = names(tmp_path)
    with pytest.raises(FencedError):
        old.commit([(split, facts)])
    assert names(tmp_path) == before


def test_an_aborted_writer_leaves_nothing(spark: SparkSession, tmp_path: Path) -> None:
    connector = sink(tmp_path, **BY_FIELD, **{"flush.size": "1"})
    rows = connector.render(events(spark, *((n, str(n), 0) for n in range(20)))).toArrow()
    writer = connector.writer()
    writer.open(SinkSplit("t", 0, 0, 20))
    for batch in rows.to_batches():
        writer.write(batch)
    writer.abort()
    assert names(tmp_path) == []
