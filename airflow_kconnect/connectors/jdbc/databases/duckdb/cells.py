"""Values of columns as DuckDB takes them from Arrow, as Catalyst expressions."""

from __future__ import annotations

from pyspark.sql import Column

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP
from airflow_kconnect.connectors.jdbc.sink.cells import (
    Cell,
    date_in,
    given,
    instant_of,
    kind_of,
    local_time,
    time_text,
)
from airflow_kconnect.connectors.jdbc.sink.config import SinkSettings
from airflow_kconnect.connectors.jdbc.sink.layouts import TableColumn


def duckdb_value(column: TableColumn, value: Column, settings: SinkSettings) -> Cell:
    """A value in its own type; what Arrow and DuckDB do not agree on are texts, which columns take."""
    value, kind = given(column, value, settings), kind_of(column, settings)
    if kind == DECIMAL:
        return Cell(value.cast("string"))
    if kind == TIME:
        return Cell(time_text(value, settings.time_zone))
    if kind == DATE:
        return Cell(date_in(value, settings.date_zone))
    if kind == TIMESTAMP:
        instant, problem = instant_of(column, value, settings)
        return Cell(local_time(instant, settings.time_zone).cast("string"), problem)
    return Cell(value)
