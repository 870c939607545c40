"""Values of columns as DuckDB takes them from Arrow, as Catalyst expressions."""

from __future__ import annotations

from functools import partial

from pyspark.sql import Column

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema
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
from airflow_kconnect.connectors.jdbc.sink.nested import each_member
from airflow_kconnect.converters.types import logical_name


def duckdb_value(column: TableColumn, value: Column, settings: SinkSettings) -> Cell:
    """A value in its own type; what Arrow and DuckDB do not agree on are texts, which columns take."""
    if not column.schema.type.is_primitive:
        return Cell(each_member(column.schema, value, settings, partial(_member, settings)))
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


def _member(settings: SinkSettings, schema: ConnectSchema, value: Column) -> Column:
    """A value within a struct, array or map."""
    match logical_name(schema):
        case name if name == TIME:
            return time_text(value, settings.time_zone)
        case name if name == DATE:
            return date_in(value, settings.date_zone)
        case name if name == TIMESTAMP:
            return local_time(value, settings.time_zone).cast("string")
    return value
