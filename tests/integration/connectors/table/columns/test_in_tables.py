"""Rows in real tables: what Spark's writers of both formats take, and what is read again."""

from __future__ import annotations

import pytest
from pyspark.sql import Observation, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.connectors.table.columns.columns import ColumnSettings, wanted_columns
from airflow_kconnect.connectors.table.columns.evolution import changes
from airflow_kconnect.connectors.table.columns.rows import rows_of
from airflow_kconnect.connectors.table.formats.base import Table, TableDefinition
from airflow_kconnect.connectors.table.formats.registry import table_class
from airflow_kconnect.connectors.table.identifiers import identifier, quoted
from airflow_kconnect.connectors.table.settings import Routing, TableSettings
from tests.support import unique
from tests.support.spark.record_frames import fields, frame_of, message

EVOLVE = ColumnSettings(evolution={"add": "evolve", "widen": "evolve", "optional": "evolve"})


@pytest.fixture(params=["iceberg", "delta"])
def table(request: pytest.FixtureRequest, spark: SparkSession, lake: str) -> Table:
    """A table of each format that is not there yet."""
    catalog = lake if request.param == "iceberg" else "spark_catalog"
    name = identifier((catalog, "columns", unique("t").replace("-", "_")))
    return table_class(request.param)(spark, name, TableSettings("sink", request.param, None, Routing()))


def _columns(table: Table, frame: RecordFrame) -> T.StructType:
    """Those of the table after it was created or changed for the records."""
    known = table.columns()
    wanted = wanted_columns(frame, EVOLVE, known)
    if known is None:
        table.create(TableDefinition(wanted))
    else:
        table.change(changes(known, wanted, EVOLVE.evolution).changes)
    columns = table.columns()
    assert columns is not None
    return columns


def _append(spark: SparkSession, table: Table, *values: bytes | None) -> None:
    frame = frame_of(spark, values)
    columns = _columns(table, frame)
    # As in a run: a filter is not applied where Spark would evaluate everything twice.
    rows = rows_of(frame, columns, EVOLVE).observe(Observation(), F.count(F.lit(1)).alias("rows"))
    rows.where(F.col("error").isNull()).select(*map(quoted, columns.names)).writeTo(table.name).append()


def test_a_table_takes_rows_of_all_shapes_and_evolves(spark: SparkSession, table: Table) -> None:
    parts = {"type": "array", "items": fields(n="int32")}
    schema = fields(**{"id": "int32", "a b": "string?", "in": fields(x="int32"), "parts": parts})
    rows = ({"id": 1, "a b": "x", "in": {"x": 1}, "parts": [{"n": 1}]}, {"id": 2, "in": {"x": 2}, "parts": []})
    _append(spark, table, *(message(schema, row) for row in rows), None)
    new = {"type": "int64", "optional": True, "doc": "it's new"}
    _append(spark, table, message(fields(**{"a b": "string?", "new`": new}), {"a b": "y", "new`": 5}))
    assert [tuple(row) for row in spark.table(table.name).orderBy("id").collect()] == [
        (None, "y", None, None, 5),
        (1, "x", Row(x=1), [Row(n=1)], None),
        (2, None, Row(x=2), [], None),
    ]
    columns = table.columns()
    assert columns is not None
    assert columns["new`"].metadata["comment"] == "it's new"
