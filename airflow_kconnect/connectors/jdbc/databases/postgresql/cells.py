"""Values of columns as PostgreSQL's COPY takes them, as Catalyst expressions."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType
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
from airflow_kconnect.converters.json.read import or_default
from airflow_kconnect.converters.json.rules import Rules
from airflow_kconnect.converters.types import decimal_scale, logical_name

_NUL = "\0"


def copy_value(column: TableColumn, value: Column, settings: SinkSettings) -> Cell:
    """A value whose text in Arrow is one that PostgreSQL reads, or that text: see `lines`."""
    if not column.schema.type.is_primitive:
        return _array(column, value, settings)
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


def _array(column: TableColumn, value: Column, settings: SinkSettings) -> Cell:
    """The text of an array of single values."""
    items = column.schema.value_schema
    assert items is not None
    value = or_default(column.schema, value, Rules(replace_null_with_default=settings.null_to_default))
    texts = F.transform(value, lambda item: F.coalesce(_item(items, item, settings), F.lit("NULL")))
    array = F.concat(F.lit("{"), F.array_join(texts, ","), F.lit("}"))
    nul = F.when(array.contains(_NUL), f"field `{column.name}` has a NUL character, which PostgreSQL cannot store")
    return Cell(array, nul if items.type is SchemaType.STRING else None)


def _item(schema: ConnectSchema, value: Column, settings: SinkSettings) -> Column:
    """An element as it is within the text of an array."""
    match logical_name(schema) or schema.type.name:
        case name if name == TIME:
            return time_text(value, settings.time_zone)
        case name if name == DATE:
            return date_in(value, settings.date_zone).cast("string")
        case name if name == TIMESTAMP:
            local = local_time(value, settings.time_zone)
            return F.concat(F.lit('"'), local.cast("string"), offset_text(value, local), F.lit('"'))
        case SchemaType.STRING.name:
            escaped = F.replace(F.replace(value, F.lit("\\"), F.lit("\\\\")), F.lit('"'), F.lit('\\"'))
            return F.concat(F.lit('"'), escaped, F.lit('"'))
        case SchemaType.BYTES.name:
            return F.concat(F.lit('"\\\\x'), F.hex(value), F.lit('"'))
    return value.cast("string")


def _postgres_timestamp(column: TableColumn, value: Column, settings: SinkSettings) -> Cell:
    instant, problem = instant_of(column, value, settings)
    local = local_time(instant, settings.time_zone)
    offset = None if settings.time_zone in UTC else offset_text(instant, local)
    return _since_postgresqls_first_day(column, Cell(local, problem, offset))


def _since_postgresqls_first_day(column: TableColumn, moment: Cell) -> Cell:
    early = f"field `{column.name}` is before 4712 BC, which PostgreSQL cannot store"
    problem = F.when(F.year(moment.column) < -4711, early)
    return replace(moment, problem=problem if moment.problem is None else F.coalesce(moment.problem, problem))
