"""Values of columns as SQLite stores them, as Catalyst expressions."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import DATE, TIME, TIMESTAMP
from airflow_kconnect.connectors.jdbc.sink.cells import Cell, given, instant_of, kind_of, plain_value
from airflow_kconnect.connectors.jdbc.sink.config import SinkSettings
from airflow_kconnect.connectors.jdbc.sink.layouts import TableColumn


def sqlite_value(column: TableColumn, value: Column, settings: SinkSettings) -> Cell:
    """A value that SQLite stores: moments are milliseconds since the epoch, as its JDBC driver has them."""
    value, kind = given(column, value, settings), kind_of(column, settings)
    if kind == TIME:
        return Cell(value.cast("bigint"))
    if kind == DATE:
        return Cell(F.unix_date(value).cast("bigint") * F.lit(86_400_000).cast("bigint"))
    if kind == TIMESTAMP:
        instant, problem = instant_of(column, value, settings)
        return Cell(F.unix_millis(instant), problem)
    return plain_value(column, value, kind)
