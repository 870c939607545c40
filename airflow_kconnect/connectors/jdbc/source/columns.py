"""Columns as Connect's fields: which schema a type gets, and how its values travel from the database to Spark."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import (
    DATE_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectSchema,
    SchemaType,
    decimal_schema,
)
from airflow_kconnect.connectors.jdbc.source.tables import Column
from airflow_kconnect.converters.types import spark_type

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn

MAX_PRECISION = 38
_FITS_INT64 = 19


class Kind(Enum):
    """What a column holds; the value is the type in which Spark receives it."""

    BOOLEAN = "boolean"
    INT8 = "tinyint"
    INT16 = "smallint"
    INT32 = "int"
    INT64 = "bigint"
    FLOAT32 = "float"
    FLOAT64 = "double"
    DECIMAL = "decimal"
    STRING = "string"
    BYTES = "binary"
    DATE = "date"  # days since 1970-01-01
    TIME = "time"  # milliseconds of the day
    WALL = "timestamp_ntz"  # date and time of day in a zone that the column does not know
    INSTANT = "timestamp"


@dataclass(frozen=True)
class Granularity:
    """`timestamp.granularity`: how timestamps are written.

    :param digits: fractional digits that are kept: 3, 6 or 9.
    :param form: ``logical``, ``long``, ``string`` or ``iso``.
    """

    digits: int = 3
    form: str = "logical"


GRANULARITIES = {
    "connect_logical": Granularity(),
    "micros_long": Granularity(6, "long"),
    "micros_string": Granularity(6, "string"),
    "micros_iso_datetime_string": Granularity(6, "iso"),
    "nanos_long": Granularity(9, "long"),
    "nanos_string": Granularity(9, "string"),
    "nanos_iso_datetime_string": Granularity(9, "iso"),
}


@dataclass(frozen=True)
class Reading:
    """How one column is read.

    :param name: its name, and that of the record's field.
    :param kind: what it holds.
    :param sql: term that selects it, in a form that Spark reads without loss.
    :param wire: Spark's type of that term.
    :param schema: schema of the field.
    """

    name: str
    kind: Kind
    sql: str
    wire: str
    schema: ConnectSchema


_PRIMITIVES = {
    Kind.BOOLEAN: SchemaType.BOOLEAN,
    Kind.INT8: SchemaType.INT8,
    Kind.INT16: SchemaType.INT16,
    Kind.INT32: SchemaType.INT32,
    Kind.INT64: SchemaType.INT64,
    Kind.FLOAT32: SchemaType.FLOAT32,
    Kind.FLOAT64: SchemaType.FLOAT64,
    Kind.STRING: SchemaType.STRING,
    Kind.BYTES: SchemaType.BYTES,
}
_GRANULAR = {"long": SchemaType.INT64, "string": SchemaType.STRING, "iso": SchemaType.STRING}


def schema_of(kind: Kind, column: Column, granularity: Granularity) -> ConnectSchema:
    """Schema of a column's field: optional if it can be null, without a default (as Connect's connectors)."""
    optional = column.nullable
    match kind:
        case Kind.DECIMAL:
            return replace(decimal_schema(column.scale), optional=optional)
        case Kind.DATE:
            return replace(DATE_SCHEMA, optional=optional)
        case Kind.TIME:
            return replace(TIME_SCHEMA, optional=optional)
        case Kind.WALL | Kind.INSTANT:
            if granularity.form == "logical":
                return replace(TIMESTAMP_SCHEMA, optional=optional)
            return ConnectSchema(_GRANULAR[granularity.form], optional)
        case primitive:
            return ConnectSchema(_PRIMITIVES[primitive], optional)


# java.sql.Types
BIT, TINYINT, SMALLINT, INTEGER, BIGINT = -7, -6, 5, 4, -5
FLOAT, REAL, DOUBLE, NUMERIC, DECIMAL_TYPE = 6, 7, 8, 2, 3
BOOLEAN, DATE_TYPE, TIME_TYPE, TIMESTAMP_TYPE, TIMESTAMP_ZONED = 16, 91, 92, 93, 2014
VARCHAR = 12
_TEXTS = (1, VARCHAR, -1, -15, -9, -16, 2005, 2011, 70, 2009)
_BINARIES = (-2, -3, -4, 2004)
_OTHERS = {
    BOOLEAN: Kind.BOOLEAN,
    BIT: Kind.INT8,
    BIGINT: Kind.INT64,
    REAL: Kind.FLOAT32,
    FLOAT: Kind.FLOAT64,
    DOUBLE: Kind.FLOAT64,
    DATE_TYPE: Kind.DATE,
    TIME_TYPE: Kind.TIME,
    TIMESTAMP_TYPE: Kind.WALL,
    TIMESTAMP_ZONED: Kind.INSTANT,
    **dict.fromkeys(_TEXTS, Kind.STRING),
    **dict.fromkeys(_BINARIES, Kind.BYTES),
}
_SIGNED = {TINYINT: Kind.INT8, SMALLINT: Kind.INT16, INTEGER: Kind.INT32}
_UNSIGNED = {TINYINT: Kind.INT16, SMALLINT: Kind.INT32, INTEGER: Kind.INT64}


def kind_of(column: Column, numeric_mapping: str) -> Kind | None:
    """What a column holds by its JDBC type; None if Connect has no counterpart."""
    if column.jdbc_type in _SIGNED:
        return (_SIGNED if column.signed else _UNSIGNED)[column.jdbc_type]
    if column.jdbc_type == NUMERIC:
        return numeric_kind(column, numeric_mapping)
    if column.jdbc_type == DECIMAL_TYPE:
        return numeric_kind(column, "none")
    return _OTHERS.get(column.jdbc_type)


def numeric_kind(column: Column, mapping: str) -> Kind | None:
    """`numeric.mapping` for a number of given precision and scale; None if Spark has no decimal for it."""
    whole, small = column.scale <= 0, 0 < column.precision < _FITS_INT64
    if mapping == "precision_only" and column.scale == 0 and small:
        return _integer_of(column.precision)
    if mapping in ("best_fit", "best_fit_eager_double"):
        if whole and small:
            return _integer_of(column.precision)
        if not whole and (small or mapping == "best_fit_eager_double"):
            return Kind.FLOAT64
    return Kind.DECIMAL if 0 <= column.scale <= column.precision and 0 < column.precision <= MAX_PRECISION else None


def _integer_of(digits: int) -> Kind:
    return Kind.INT64 if digits > 9 else Kind.INT32 if digits > 4 else Kind.INT16 if digits > 2 else Kind.INT8


def reading_of(column: Column, kind: Kind, sql: str, wire: str | None, granularity: Granularity) -> Reading:
    """Put a reading together.

    :param wire: Spark's type if it is not the one of the kind.
    """
    own = f"decimal({column.precision},{column.scale})" if kind is Kind.DECIMAL else kind.value
    return Reading(column.name, kind, sql, wire or own, schema_of(kind, column, granularity))


def as_text(column: Column) -> Column:
    """The column read as a text (`unsupported.columns=string`)."""
    return replace(column, jdbc_type=VARCHAR)


def finished(reading: Reading, column: SparkColumn, granularity: Granularity, zone: str) -> SparkColumn:
    """The field's value of what Spark has read.

    :param zone: zone of timestamps that do not know theirs.
    """
    from pyspark.sql import functions as F

    match reading.kind:
        case Kind.DECIMAL:
            return column.cast(spark_type(reading.schema))
        case Kind.DATE:
            return column if reading.wire == "date" else F.date_from_unix_date(column)
        case Kind.TIME if reading.wire in ("timestamp_ntz", "string"):
            day_ms = 86_400_000
            return F.pmod(F.unix_millis(column.cast("timestamp")), F.lit(day_ms)).cast("int")
        case Kind.WALL | Kind.INSTANT:
            instant = F.timestamp_micros(column) if reading.wire == "bigint" else column.cast("timestamp")
            if reading.kind is Kind.WALL and zone != "UTC":
                instant = F.to_utc_timestamp(instant, zone)
            return _granular(instant, granularity)
        case _:
            return column


def _granular(instant: SparkColumn, granularity: Granularity) -> SparkColumn:
    from pyspark.sql import functions as F

    if granularity.form == "logical":
        return instant
    if granularity.form == "iso":
        zeros = "" if granularity.digits == 6 else "000"
        return F.concat(F.date_format(instant, "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"), F.lit(zeros))
    micros = F.unix_micros(instant)
    number = micros if granularity.digits == 6 else micros * 1000
    return number if granularity.form == "long" else number.cast("string")
