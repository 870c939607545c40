"""Values of columns as PostgreSQL's COPY takes them, as Catalyst expressions."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, SchemaType
from airflow_kconnect.connectors.jdbc.databases.postgresql.lines import PLAIN_SCALE
from airflow_kconnect.connectors.jdbc.sink.cells import (
    Cell,
    date_in,
    given,
    instant_of,
    kind_of,
    local_time,
    offset_text,
    time_text,
)
from airflow_kconnect.connectors.jdbc.sink.config import UTC, SinkSettings
from airflow_kconnect.connectors.jdbc.sink.layouts import TableColumn
from airflow_kconnect.converters.types import decimal_scale

_NUL = "\0"


def copy_value(column: TableColumn, value: Column, settings: SinkSettings) -> Cell:
    """A value whose text in Arrow is one that PostgreSQL reads, or that text: see `lines`."""
    value, kind = given(column, value, settings), kind_of(column, settings)
    if kind == TIME:
        return Cell(time_text(value, settings.time_zone))
    if kind == DATE:
        return _since_postgresqls_first_day(column, Cell(date_in(value, settings.date_zone)))
    if kind == TIMESTAMP:
        return _postgres_timestamp(column, value, settings)
    if kind == SchemaType.STRING.name:
        nul = F.when(value.contains(_NUL), f"field `{column.name}` has a NUL character, which PostgreSQL cannot store")
        return Cell(value, nul)
    if kind == SchemaType.BYTES.name:
        return Cell(F.concat(F.lit("\\x"), F.hex(value)))
    if kind == DECIMAL and decimal_scale(column.schema) > PLAIN_SCALE:
        return Cell(value.cast("string"))
    return Cell(value)


def _postgres_timestamp(column: TableColumn, value: Column, settings: SinkSettings) -> Cell:
    instant, problem = instant_of(column, value, settings)
    local = local_time(instant, settings.time_zone)
    offset = None if settings.time_zone in UTC else offset_text(instant, local)
    return _since_postgresqls_first_day(column, Cell(local, problem, offset))


def _since_postgresqls_first_day(column: TableColumn, moment: Cell) -> Cell:
    early = f"field `{column.name}` is before 4712 BC, which PostgreSQL cannot store"
    problem = F.when(F.year(moment.column) < -4711, early)
    return replace(moment, problem=problem if moment.problem is None else F.coalesce(moment.problem, problem))
