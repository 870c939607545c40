"""Single values in another type: exactly, or null."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.converters.types import spark_type

_MILLIS_MAX, _DAYS_MAX = 9_223_372_036_854_775, 106_751_991
"""Moments in microseconds do not reach further."""
_DATE_BEGINS = r"^\s*[+-]?\d{4,6}-\d"
_DATE_TEXT = r"^\s*[+-]?\d{4,7}-\d{1,2}-\d{1,2}\s*$"
_FINER_THAN_MICROS = r"\.\d{6}\d*[1-9]"
_MOMENTS = (T.TimestampType, T.TimestampNTZType)
_UNITS = {
    None: "milliseconds",
    "io.debezium.time.Timestamp": "milliseconds",
    "io.debezium.time.MicroTimestamp": "microseconds",
    "io.debezium.time.NanoTimestamp": "nanoseconds",
}
"""What an INT64 counts, by the name of its schema: Connect's own are milliseconds."""
_DAYS = (None, "io.debezium.time.Date")


def widened(column: Column, given: T.DataType, wanted: T.DataType) -> Column:
    """Values in a type that holds them all (`types.holds`); no structs, arrays and maps in texts."""
    if isinstance(wanted, T.VariantType):
        nested = isinstance(given, T.StructType | T.ArrayType | T.MapType)
        return F.to_variant_object(column) if nested else column.cast("variant")
    return column.cast(wanted)


def checked(column: Column, schema: ConnectSchema, wanted: T.DataType) -> Column | None:
    """Values in a type that not all of them fit into (`types.is_checked`): null for those that do not. None: the
    schema's name says that they are something else.
    """
    given = spark_type(schema)
    if isinstance(given, T.StringType):
        return from_text(column, wanted)
    if isinstance(given, T.LongType) and isinstance(wanted, _MOMENTS):
        return _of_count(column, schema.name, wanted)
    if isinstance(given, T.IntegerType) and isinstance(wanted, T.DateType):
        return F.date_from_unix_date(column) if schema.name in _DAYS else None
    if isinstance(given, T.DateType):
        return F.when(F.unix_date(column).between(-_DAYS_MAX, _DAYS_MAX), column).cast(wanted)
    cell = column.try_cast(wanted)
    return F.when(cell.try_cast(given).eqNullSafe(column), cell)


def from_text(column: Column, wanted: T.DataType) -> Column:
    """What a text says, null if it says nothing that fits into the type."""
    match wanted:
        case T.DecimalType():
            return F.when(exact_decimal(column, wanted), column.try_cast(wanted))
        case T.DateType():
            return F.when(column.rlike(_DATE_TEXT), column.try_cast(wanted))
        case T.TimestampType() | T.TimestampNTZType():
            # Spark would also take a year, and a time: that of today.
            return F.when(column.rlike(_DATE_BEGINS) & ~column.rlike(_FINER_THAN_MICROS), column.try_cast(wanted))
    return column.try_cast(wanted)


def exact_decimal(text: Column, wanted: T.DecimalType) -> Column:
    """Whether a text is a number without more digits after the point than the type has."""
    return text.rlike(rf"^\s*[+-]?\d+(\.\d{{0,{wanted.scale}}}0*)?\s*$")


def moment_of_millis(column: Column, wanted: T.DataType) -> Column:
    """The moment at milliseconds since the epoch; null outside the range."""
    return F.timestamp_millis(F.when(column.between(-_MILLIS_MAX, _MILLIS_MAX), column)).cast(wanted)


def _of_count(column: Column, name: str | None, wanted: T.DataType) -> Column | None:
    match _UNITS.get(name):
        case "milliseconds":
            return moment_of_millis(column, wanted)
        case "microseconds":
            return F.timestamp_micros(column).cast(wanted)
        case "nanoseconds":
            exact = F.when(column % F.lit(1000) == F.lit(0), column)
            return F.timestamp_micros(F.call_function("div", exact, F.lit(1000))).cast(wanted)
    return None
