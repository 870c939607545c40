"""Values of columns as the writers take them, as Catalyst expressions: for PostgreSQL's COPY, or for a driver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pyspark.sql import Column
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, SchemaType
from airflow_kconnect.connectors.jdbc.sink_config import UTC, SinkSettings
from airflow_kconnect.connectors.jdbc.sink_layouts import TableColumn
from airflow_kconnect.connectors.jdbc.targets.postgres_lines import PLAIN_SCALE
from airflow_kconnect.converters.json_read import or_default
from airflow_kconnect.converters.json_rules import Rules
from airflow_kconnect.converters.types import decimal_scale, logical_name

FLOATS = (SchemaType.FLOAT32, SchemaType.FLOAT64)
_NUL = "\0"


@dataclass(frozen=True)
class Cell:
    """A value on its way into a database.

    :param column: null where the value is.
    :param problem: STRING, why it cannot be written, null where it can; None: it always can.
    :param offset: STRING, what the moment's zone is ahead of UTC; None: nothing, or the value is no moment.
    """

    column: Column
    problem: Column | None = None
    offset: Column | None = None


CellRule = Callable[[TableColumn, Column, SinkSettings], Cell]
"""From a column of a record frame to what a database takes."""


def kind_of(column: TableColumn, settings: SinkSettings) -> str:
    """What a column holds: a logical type's name, `TIMESTAMP` too where a number counts as one, or the plain type's."""
    schema = column.schema
    if column.field in settings.instants and schema.type in (SchemaType.INT64, SchemaType.STRING):
        return TIMESTAMP
    return logical_name(schema) or schema.type.name


def given(column: TableColumn, value: Column, settings: SinkSettings) -> Column:
    """The value, with the default in place of null if that is wanted."""
    if not settings.null_to_default or column.schema.default is None:
        return value
    return or_default(column.schema, value, Rules())


def copy_value(column: TableColumn, value: Column, settings: SinkSettings) -> Cell:
    """A value whose text in Arrow is one that PostgreSQL reads, or that text: see `postgres_lines`."""
    value, kind = given(column, value, settings), kind_of(column, settings)
    if kind == TIME:
        return Cell(_time_text(value, settings.time_zone))
    if kind == DATE:
        return _since_postgresqls_first_day(column, Cell(_date_in(value, settings.date_zone)))
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
    instant, problem = _instant(column, value, settings)
    local = _local(instant, settings.time_zone)
    offset = None if settings.time_zone in UTC else _offset_text(instant, local)
    return _since_postgresqls_first_day(column, Cell(local, problem, offset))


def _since_postgresqls_first_day(column: TableColumn, moment: Cell) -> Cell:
    early = f"field `{column.name}` is before 4712 BC, which PostgreSQL cannot store"
    problem = F.when(F.year(moment.column) < -4711, early)
    return replace(moment, problem=problem if moment.problem is None else F.coalesce(moment.problem, problem))


def driver_value(column: TableColumn, value: Column, settings: SinkSettings) -> Cell:
    """A value that MySQL's driver takes: numbers, texts, bytes; moments and decimals are texts."""
    value, kind = given(column, value, settings), kind_of(column, settings)
    if kind in (DATE, TIME, TIMESTAMP):
        if kind == TIME:
            return Cell(_time_text(value, settings.time_zone))
        if kind == DATE:
            return Cell(_date_in(value, settings.date_zone).cast("string"))
        instant, problem = _instant(column, value, settings)
        return Cell(_local(instant, settings.time_zone).cast("string"), problem)
    return _plain_value(column, value, kind)


def sqlite_value(column: TableColumn, value: Column, settings: SinkSettings) -> Cell:
    """A value that SQLite stores: moments are milliseconds since the epoch, as its JDBC driver has them."""
    value, kind = given(column, value, settings), kind_of(column, settings)
    if kind == TIME:
        return Cell(value.cast("bigint"))
    if kind == DATE:
        return Cell(F.unix_date(value).cast("bigint") * F.lit(86_400_000).cast("bigint"))
    if kind == TIMESTAMP:
        instant, problem = _instant(column, value, settings)
        return Cell(F.unix_millis(instant), problem)
    return _plain_value(column, value, kind)


def _plain_value(column: TableColumn, value: Column, kind: str) -> Cell:
    if kind == DECIMAL:
        return Cell(value.cast("string"))
    if kind == SchemaType.BOOLEAN.name:
        return Cell(value.cast("tinyint"))
    if kind in [found.name for found in FLOATS]:
        number = value.cast("double")
        no_number = F.isnan(number) | (F.abs(number) == F.lit(float("inf")))
        return Cell(
            number, F.when(no_number, f"field `{column.name}` is not a finite number, which the database cannot store")
        )
    return Cell(value)


def _instant(column: TableColumn, value: Column, settings: SinkSettings) -> tuple[Column, Column | None]:
    """TIMESTAMP, and why a text is none."""
    schema = column.schema
    if logical_name(schema) == TIMESTAMP:
        return value, None
    number = value.try_cast("bigint") if schema.type is SchemaType.STRING else value
    micros = F.call_function("div", number, F.lit(1000).cast("bigint")) if settings.nanos else number
    wrong = F.when(
        value.isNotNull() & number.isNull(), f"field `{column.name}` is not a number, but is in `timestamp.fields.list`"
    )
    return F.timestamp_micros(micros), wrong if schema.type is SchemaType.STRING else None


def _local(instant: Column, zone: str) -> Column:
    return instant if zone in UTC else F.from_utc_timestamp(instant, zone)


def _date_in(value: Column, zone: str) -> Column:
    """The date in which a day's midnight (UTC) falls in a zone."""
    return value if zone in UTC else F.from_utc_timestamp(value.cast("timestamp"), zone).cast("date")


def _time_text(value: Column, zone: str) -> Column:
    return F.date_format(_local(F.timestamp_millis(value), zone), "HH:mm:ss.SSS")


def _offset_text(instant: Column, local: Column) -> Column:
    seconds = F.unix_seconds(local) - F.unix_seconds(instant)
    text = F.date_format(F.timestamp_seconds(F.abs(seconds)), "HH:mm:ss")
    return F.concat(F.when(seconds < 0, "-").otherwise("+"), text)
