"""Rows in real tables: what Spark's writers of both formats take, and what is read again."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import Observation, Row, SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connectors.table.columns import ColumnSettings, wanted_columns
from airflow_kconnect.connectors.table.evolution import changes
from airflow_kconnect.connectors.table.identifiers import column_path, identifier, quoted
from airflow_kconnect.connectors.table.rows import rows_of
from tests.support import unique
from tests.support.spark.record_frames import fields, frame_of, message

EVOLVE = ColumnSettings(evolution={"add": "evolve", "widen": "evolve", "optional": "evolve"})


@pytest.fixture(params=["iceberg", "delta"])
def table(request: pytest.FixtureRequest, spark: SparkSession, lake: str) -> tuple[str, str]:
    """The format, and the name of a table that is not there yet."""
    parts = (lake, "columns") if request.param == "iceberg" else ("spark_catalog", "columns")
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {identifier(parts)}")
    return request.param, identifier((*parts, unique("t").replace("-", "_")))


def _append(spark: SparkSession, table: str, values: list[bytes | None]) -> None:
    columns = spark.table(table).schema
    # As in a run: a filter is not applied where Spark would evaluate everything twice.
    rows = rows_of(frame_of(spark, values), columns, EVOLVE).observe(Observation(), F.count(F.lit(1)).alias("rows"))
    rows.where(F.col("error").isNull()).select(*map(quoted, columns.names)).writeTo(table).append()


def test_a_table_takes_rows_of_all_shapes_and_evolves(spark: SparkSession, table: tuple[str, str]) -> None:
    kind, name = table
    first: list[bytes | None] = [
        message(fields(**{"id": "int32", "a b": "string?", "in": fields(x="int32")}), payload)
        for payload in ({"id": 1, "a b": "x", "in": {"x": 1}}, {"id": 2, "a b": None, "in": {"x": 2}})
    ]
    wanted = wanted_columns(frame_of(spark, first), EVOLVE, None)
    # Delta Lake takes odd names only so.
    odd = " TBLPROPERTIES ('delta.columnMapping.mode'='name')" if kind == "delta" else ""
    spark.sql(f"CREATE TABLE {name} ({wanted.toDDL()}) USING {kind}{odd}")
    _append(spark, name, [*first, None])
    schema = fields(**{"a b": "string?", "new`": {"type": "int64", "optional": True, "doc": "it's new"}})
    second: list[bytes | None] = [message(schema, {"a b": "y", "new`": 5})]
    for change in changes(
        spark.table(name).schema, wanted_columns(frame_of(spark, second), EVOLVE, spark.table(name).schema),
        EVOLVE.evolution,
    ).changes:  # fmt: skip
        _alter(spark, name, change.kind, column_path(change.path), change.type)
    _append(spark, name, second)
    assert [tuple(row) for row in spark.table(name).orderBy("id").collect()] == [
        (None, "y", None, 5),
        (1, "x", Row(x=1), None),
        (2, None, Row(x=2), None),
    ]


def _alter(spark: SparkSession, table: str, kind: str, column: str, type_: Any) -> None:
    match kind:
        case "add":
            spark.sql(f"ALTER TABLE {table} ADD COLUMN {column} {type_.simpleString()}")
        case "optional":
            spark.sql(f"ALTER TABLE {table} ALTER COLUMN {column} DROP NOT NULL")
