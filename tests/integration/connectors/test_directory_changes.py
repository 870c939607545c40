"""The directory sink and records whose fields are not those of the files that are there: evolve, fail, ignore."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.data import (
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    SCHEMALESS,
    STRING_SCHEMA,
    ConnectSchema,
    SchemaType,
    Shape,
    struct,
)
from airflow_kconnect.connect.error_cells import error_from_column
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.changes import SCHEMA_CHANGE
from airflow_kconnect.connectors.directory.sink import DirectorySinkConnector
from tests.support.connectors.sinks import Row, record_frame, run_sink

FORMATS = ("json", "parquet")


def array(items: ConnectSchema) -> ConnectSchema:
    return ConnectSchema(SchemaType.ARRAY, value_schema=items)


ITEM = struct(("sku", STRING_SCHEMA))
NEW_ITEM = struct(("size", INT32_SCHEMA), ("sku", STRING_SCHEMA))
OLD = Shape(struct(("id", INT32_SCHEMA), ("name", OPTIONAL_STRING_SCHEMA), ("items", array(ITEM))))
NEW = Shape(struct(("id", INT32_SCHEMA), ("more", STRING_SCHEMA), ("items", array(NEW_ITEM))))
WIDE = Shape(struct(("id", INT64_SCHEMA), ("name", OPTIONAL_STRING_SCHEMA)))
OTHER = Shape(struct(("id", STRING_SCHEMA)))
SHORT = Shape(struct(("id", INT32_SCHEMA)))
SHAPES = (OLD, NEW, WIDE, OTHER, SCHEMALESS, SHORT)
FIRST: Row = (0, (1, "a", [("x",)]))
SECOND: Row = (1, (2, "m", [(5, "y")]))


def sink(folder: Path, policy: str, format: str) -> DirectorySinkConnector:
    return DirectorySinkConnector({"name": "lake", "directory": str(folder), "format": format, SCHEMA_CHANGE: policy})


class Lake:
    """A sink, and runs of it."""

    def __init__(self, spark: SparkSession, folder: Path, policy: str, format: str) -> None:
        self._spark, self._folder, self._policy, self._format = spark, folder, policy, format
        self.warnings: list[str] = []
        self._next = 0

    def run(self, *rows: Row) -> list[str]:
        """Errors of the rows that were not written."""
        connector = sink(self._folder, self._policy, self._format)
        frame = record_frame(self._spark, SHAPES, rows, self._next)
        _, errors = run_sink(connector, frame, self._next)
        self._next += len(rows)
        self.warnings = connector.run_warnings()
        return [str(error_from_column(cell, "t-0@0")) for cell in errors]

    @property
    def rows(self) -> list[dict[str, Any]]:
        files = sorted((self._folder / "t" / "partition=0").iterdir())
        if self._format == "json":
            return [json.loads(line) for path in files for line in path.read_text().splitlines()]
        return [row for path in files for row in pq.read_table(path, partitioning=None).to_pylist()]


@pytest.mark.parametrize("format", [pytest.param("json", marks=pytest.mark.exhaustive), "parquet"])
class TestEveryFormat:
    def test_fail_names_what_changed(self, spark: SparkSession, tmp_path: Path, format: str) -> None:
        lake = Lake(spark, tmp_path, "fail", format)
        (error,) = lake.run(FIRST, SECOND, FIRST)
        assert "bad record at t-0@0" in error
        assert "`more` is new" in error
        assert "of lake is fail" in error
        assert len(lake.rows) == 2

    def test_fail_knows_the_files_of_older_runs(self, spark: SparkSession, tmp_path: Path, format: str) -> None:
        lake = Lake(spark, tmp_path, "fail", format)
        lake.run(FIRST)
        assert "`more` is new" in lake.run(SECOND)[0]

    def test_what_the_files_have_after_evolving_is_known(
        self, spark: SparkSession, tmp_path: Path, format: str
    ) -> None:
        frame = record_frame(spark, (OLD, NEW), [SECOND])
        run_sink(sink(tmp_path, "evolve", format), frame)
        assert Lake(spark, tmp_path, "fail", format).run(SECOND) == []

    def test_ignore_names_the_fields(self, spark: SparkSession, tmp_path: Path, format: str) -> None:
        lake = Lake(spark, tmp_path, "ignore", format)
        lake.run(FIRST, FIRST)
        assert lake.warnings == []
        lake.run(SECOND)
        (warning,) = lake.warnings
        assert warning.startswith("the files of topic t have no fields `more`")

    def test_missing_fields_are_not_a_change(self, spark: SparkSession, tmp_path: Path, format: str) -> None:
        lake = Lake(spark, tmp_path, "fail", format)
        assert lake.run(FIRST, (5, (7,))) == []
        assert lake.rows[1]["id"] == 7

    def test_ignore_refuses_records_of_which_nothing_is_left(
        self, spark: SparkSession, tmp_path: Path, format: str
    ) -> None:
        shapes = (OLD, Shape(struct(("z", INT32_SCHEMA))))
        connector = sink(tmp_path, "ignore", format)
        frame = record_frame(spark, shapes, [FIRST, (1, (1,))])
        (facts, errors) = run_sink(connector, frame)
        assert (facts["records"], len(errors)) == (1, 1)


@pytest.mark.parametrize("format", FORMATS)
def test_ignore_leaves_fields_out(spark: SparkSession, tmp_path: Path, format: str) -> None:
    lake = Lake(spark, tmp_path, "ignore", format)
    assert lake.run(FIRST) == []
    assert lake.run(SECOND, (None, None)) == []
    rows = [row for row in lake.rows if row is not None]
    assert rows[0] == {"id": 1, "name": "a", "items": [{"sku": "x"}]}
    assert rows[1]["id"] == 2
    assert "more" not in rows[1]


class TestParquet:
    def test_evolving_adds_members_of_structs(self, spark: SparkSession, tmp_path: Path) -> None:
        lake = Lake(spark, tmp_path, "evolve", "parquet")
        frame = record_frame(spark, (OLD, NEW), [FIRST, SECOND])
        run_sink(sink(tmp_path, "evolve", "parquet"), frame)
        assert lake.rows == [
            {"id": 1, "name": "a", "items": [{"sku": "x", "size": None}], "more": None},
            {"id": 2, "name": None, "items": [{"sku": "y", "size": 5}], "more": "m"},
        ]

    def test_members_of_structs_are_left_out(self, spark: SparkSession, tmp_path: Path) -> None:
        lake = Lake(spark, tmp_path, "ignore", "parquet")
        lake.run(FIRST, SECOND)
        assert lake.rows[1] == {"id": 2, "name": None, "items": [{"sku": "y"}]}
        assert "`more`, `items[].size`" in lake.warnings[0]

    def test_wider_numbers_are_a_change(self, spark: SparkSession, tmp_path: Path) -> None:
        errors = Lake(spark, tmp_path, "fail", "parquet").run(FIRST, (2, (1, "b")))
        assert "`id` is bigint, and was int" in errors[0]

    def test_wider_numbers_are_ignored_if_they_fit(self, spark: SparkSession, tmp_path: Path) -> None:
        lake = Lake(spark, tmp_path, "ignore", "parquet")
        (error,) = lake.run(FIRST, (2, (7, "b")), (2, (1 << 40, "c")))
        assert "`id` does not fit into int" in error
        assert [row["id"] for row in lake.rows] == [1, 7]

    @pytest.mark.parametrize("policy", ["fail", pytest.param("ignore", marks=pytest.mark.exhaustive)])
    def test_other_types_are_refused(self, spark: SparkSession, tmp_path: Path, policy: str) -> None:
        lake = Lake(spark, tmp_path, policy, "parquet")
        (error,) = lake.run(FIRST, (3, ("x",)))
        assert "`id` is string, and was int" in error

    @pytest.mark.parametrize("policy", ["fail", pytest.param("ignore", marks=pytest.mark.exhaustive)])
    def test_values_without_a_schema_have_a_column_of_their_own(
        self, spark: SparkSession, tmp_path: Path, policy: str
    ) -> None:
        lake = Lake(spark, tmp_path, policy, "parquet")
        (error,) = lake.run(FIRST, (4, '{"id":1}'))
        assert "`value` is new" in error

    def test_doubles_that_lose_digits_do_not_fit(self, spark: SparkSession, tmp_path: Path) -> None:
        single = Shape(struct(("x", ConnectSchema(SchemaType.FLOAT32))))
        shapes = (single, Shape(struct(("x", FLOAT64_SCHEMA))))
        connector = sink(tmp_path, "ignore", "parquet")
        frame = record_frame(spark, shapes, [(0, (0.5,)), (1, (0.25,)), (1, (0.1,)), (1, (float("nan"),))])
        (error,) = run_sink(connector, frame)[1]
        assert "`x` does not fit" in error
        (path,) = (tmp_path / "t" / "partition=0").iterdir()
        assert str(pq.read_table(path, partitioning=None)["x"].to_pylist()) == "[0.5, 0.25, nan]"

    def test_file_that_cannot_be_read_is_named(self, tmp_path: Path) -> None:
        folder = tmp_path / "t" / "partition=0"
        folder.mkdir(parents=True)
        (folder / "t+0+0000000000.parquet").write_bytes(b"no such file")
        with pytest.raises(DataError, match=r"t\+0\+0000000000\.parquet is not a Parquet file that can be read"):
            sink(tmp_path, "fail", "parquet").prepare({TopicPartition("t", 0): 1})


def test_compressed_json_is_known(spark: SparkSession, tmp_path: Path) -> None:
    def run(number: int, row: Row) -> list[str]:
        config = {"name": "lake", "directory": str(tmp_path), "compression": "gzip", SCHEMA_CHANGE: "fail"}
        return run_sink(DirectorySinkConnector(config), record_frame(spark, SHAPES, [row], number), number)[1]

    assert run(0, FIRST) == []
    assert "`more` is new" in run(1, SECOND)[0]
