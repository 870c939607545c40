"""Conversion of column values for a database, as Catalyst expressions; each database adds its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, SchemaType
from airflow_kconnect.connectors.jdbc.sink.config import UTC, SinkSettings
from airflow_kconnect.connectors.jdbc.sink.layouts import TableColumn
from airflow_kconnect.converters.json.read import or_default
from airflow_kconnect.converters.json.rules import Rules
from airflow_kconnect.converters.types import logical_name

FLOATS = (SchemaType.FLOAT32, SchemaType.FLOAT64)
JSON = "JSON"
"""The kind of columns of structs, arrays and maps."""


@dataclass(frozen=True)
class Cell:
    """A value on its way into a database.

    :param column: null where the value is.
    :param problem: STRING, why it cannot be written, null where it can; None: it always can.
    :param offset: STRING, what the moment's zone is ahead of UTC; None: nothing, or the value is not a moment.
    """

    column: Column
    problem: Column | None = None
    offset: Column | None = None


CellRule = Callable[[TableColumn, Column, SinkSettings], Cell]
"""From a column of a record frame to what a database takes."""


def kind_of(column: TableColumn, settings: SinkSettings) -> str:
    """What a column holds: a logical type's name, `TIMESTAMP` too where a number counts as one, or the plain type's."""
    schema = column.schema
    if not schema.type.is_primitive:
        return JSON
    if column.field in settings.instants and schema.type in (SchemaType.INT64, SchemaType.STRING):
        return TIMESTAMP
    return logical_name(schema) or schema.type.name


def given(column: TableColumn, value: Column, settings: SinkSettings) -> Column:
    """The value, with the default instead of null if that is wanted."""
    if not settings.null_to_default or column.schema.default is None:
        return value
    return or_default(column.schema, value, Rules())


def plain_value(column: TableColumn, value: Column, kind: str) -> Cell:
    """A value that is not a moment, as drivers take it: decimals are texts, booleans and floats are numbers."""
    if kind == DECIMAL:
        return Cell(value.cast("string"))
    if kind == SchemaType.BOOLEAN.name:
        return Cell(value.cast("tinyint"))
    if kind in [float_type.name for float_type in FLOATS]:
        number = value.cast("double")
        no_number = F.isnan(number) | (F.abs(number) == F.lit(float("inf")))
        return Cell(
            number, F.when(no_number, f"field `{column.name}` is not a finite number, which the database cannot store")
        )
    return Cell(value)


def instant_of(column: TableColumn, value: Column, settings: SinkSettings) -> tuple[Column, Column | None]:
    """TIMESTAMP, and why a text is not one; None: it always is."""
    schema = column.schema
    if logical_name(schema) == TIMESTAMP:
        return value, None
    number = value.try_cast("bigint") if schema.type is SchemaType.STRING else value
    micros = F.call_function("div", number, F.lit(1000).cast("bigint")) if settings.nanos else number
    wrong = F.when(
        value.isNotNull() & number.isNull(), f"field `{column.name}` is not a number, but is in `timestamp.fields.list`"
    )
    return F.timestamp_micros(micros), wrong if schema.type is SchemaType.STRING else None


def local_time(instant: Column, zone: str) -> Column:
    """What a clock of the zone shows at a moment."""
    return instant if zone in UTC else F.from_utc_timestamp(instant, zone)


def date_in(value: Column, zone: str) -> Column:
    """The date in which a day's midnight (UTC) falls in a zone."""
    return value if zone in UTC else F.from_utc_timestamp(value.cast("timestamp"), zone).cast("date")


def time_text(value: Column, zone: str) -> Column:
    """A time of day (INT, milliseconds) as a clock of the zone shows it."""
    return F.date_format(local_time(F.timestamp_millis(value), zone), "HH:mm:ss.SSS")


def offset_text(instant: Column, local: Column) -> Column:
    """How far a local time is ahead of UTC, as `+01:00:00`."""
    seconds = F.unix_seconds(local) - F.unix_seconds(instant)
    text = F.date_format(F.timestamp_seconds(F.abs(seconds)), "HH:mm:ss")
    return F.concat(F.when(seconds < 0, "-").otherwise("+"), text)


def driver_value(column: TableColumn, value: Column, settings: SinkSettings) -> Cell:
    """A value as most drivers take it: numbers, texts, bytes; moments and decimals are texts."""
    value, kind = given(column, value, settings), kind_of(column, settings)
    if kind in (DATE, TIME, TIMESTAMP):
        if kind == TIME:
            return Cell(time_text(value, settings.time_zone))
        if kind == DATE:
            return Cell(date_in(value, settings.date_zone).cast("string"))
        instant, problem = instant_of(column, value, settings)
        return Cell(local_time(instant, settings.time_zone).cast("string"), problem)
    return plain_value(column, value, kind)
