"""Casts between Connect's primitive types as in Java, as Catalyst expressions that never throw."""

from __future__ import annotations

from typing import Any, NamedTuple

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.converters.base64_text import base64_text
from airflow_kconnect.converters.json.read import or_default
from airflow_kconnect.converters.json.rules import Rules
from airflow_kconnect.converters.types import INTEGER_BITS, logical_name, primitive_type, spark_type
from airflow_kconnect.transforms.expressions.schemaless import as_type, bound, by_kind, java_class
from airflow_kconnect.transforms.smt.cast.spec import SOURCES, type_names

_FLOATS = (SchemaType.FLOAT32, SchemaType.FLOAT64)
_DAY_MS = 86_400_000
_WORD = 1 << 64


class CastColumn(NamedTuple):
    """The result of a cast.

    :param column: in a column of the target's type; null for null.
    :param error: STRING, null if there is no error; None if no value can fail.
    """

    column: Column
    error: Column | None = None


def cast_value(schema: ConnectSchema, column: Column, target: SchemaType) -> CastColumn:
    """Cast the values of a schema (``Cast.castValueToType``)."""
    if error := unsupported(schema, target):
        return CastColumn(F.lit(None).cast(primitive_type(target)), F.when(column.isNotNull(), error))
    if target is SchemaType.STRING:
        return CastColumn(_text(schema, column))
    if schema.type is SchemaType.STRING:
        return _parsed(column, target)
    return CastColumn(_number(schema, column, target))


def cast_default(schema: ConnectSchema, target: SchemaType, session: SparkSession) -> tuple[Any, str | None]:
    """The default of a schema, cast like its values, or why it cannot be cast. Spark folds this: no task runs."""
    literal = or_default(schema, F.lit(None).cast(spark_type(schema)), Rules())
    column, error = cast_value(schema, literal, target)
    if target is SchemaType.FLOAT32:
        # Python would show all digits of the number as a double.
        column = column.cast("string").try_cast("double")
    result = column.alias("value"), _text_or_null(error).alias("error")
    [row] = session.sql("VALUES (0)").select(*result).collect()
    return row.value, row.error


def cast_variant(variant: Column, target: SchemaType) -> CastColumn:
    """Cast VARIANTs; the result is a VARIANT again."""

    def cast(schema: ConnectSchema, value: Column) -> Column:
        column, error = cast_value(schema, as_type(value, schema), target)
        if logical_name(schema):
            text = f"Cast transformation was passed a value of type class {java_class(schema)}"
            error = F.lit(f"{text} which is not supported by Connect's data API")
        return F.struct(column.cast("variant").alias("column"), _text_or_null(error).alias("error"))

    result = bound(variant, lambda value: by_kind(value, lambda schema: cast(schema, value)))
    return CastColumn(result["column"], result["error"])


def unsupported(schema: ConnectSchema, target: SchemaType | None = None) -> str | None:
    """Why no value of the schema can be cast."""
    if schema.type not in SOURCES:
        known = type_names(SOURCES)
        return f"Cast transformation does not support casting from {schema.type.name}; supported types are {known}"
    is_bytes = schema.type is SchemaType.BYTES and logical_name(schema) != DECIMAL
    return "Unexpected type in Cast transformation: class [B" if is_bytes and target is not SchemaType.STRING else None


def _text_or_null(error: Column | None) -> Column:
    return F.lit(None).cast("string") if error is None else error


def _text(schema: ConnectSchema, column: Column) -> Column:
    """``toString()``; dates and times by ``Values.dateFormatFor``."""
    match logical_name(schema):
        case name if name == DATE:
            date = F.ltrim(column.cast("string"), F.lit("+"))
            return F.when(F.unix_date(column) < 1, "00:00:00.000Z").otherwise(date)
        case name if name == TIME:
            return F.date_format(F.timestamp_millis(column), "HH:mm:ss.SSS'Z'")
        case name if name == TIMESTAMP:
            return _timestamp_text(column)
        case name if name == DECIMAL:
            # Unlike a cast, this is BigDecimal.toString(), which writes small numbers as 1E-7.
            return F.when(column.isNotNull(), F.format_string("%s", column))
        case _ if schema.type is SchemaType.BYTES:
            return base64_text(column)
        case _:
            return column.cast("string")


def _timestamp_text(column: Column) -> Column:
    ms = F.unix_millis(column)
    formats = F.when(ms < _DAY_MS, F.date_format(column, "HH:mm:ss.SSS'Z'"))
    formats = formats.when(ms % _DAY_MS == 0, F.date_format(column, "yyyy-MM-dd"))
    return F.ltrim(formats.otherwise(F.date_format(column, "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")), F.lit("+"))


def _parsed(text: Column, target: SchemaType) -> CastColumn:
    """``parseInt()`` and the like."""
    if target is SchemaType.BOOLEAN:
        return CastColumn(F.lower(text) == "true")
    if target in _FLOATS:
        # Spark also accepts words like inf and nan, in any case.
        java = ~text.rlike("(?i)inf|nan") | text.rlike("Infinity|NaN")
    else:
        java = text.rlike(r"^[+-]?[0-9]+\z")
    number = F.when(java, text.try_cast(primitive_type(target)))
    wrong = F.concat(F.lit("Value ("), text, F.lit(") was out of range for requested data type"))
    return CastColumn(number, F.when(number.isNull(), wrong))


def _number(schema: ConnectSchema, column: Column, target: SchemaType) -> Column:
    match logical_name(schema):
        case name if name == DATE:
            column = F.unix_date(column)
        case name if name == TIMESTAMP:
            column = F.unix_millis(column)
    if target in _FLOATS or schema.type is SchemaType.BOOLEAN:
        return column.cast(primitive_type(target))
    if target is SchemaType.BOOLEAN:
        return _long(schema, column, 64) != 0
    return _narrowed(_long(schema, column, INTEGER_BITS[target]), INTEGER_BITS[target]).cast(primitive_type(target))


def _long(schema: ConnectSchema, column: Column, bits: int) -> Column:
    """The integer from which Java takes the lowest bits."""
    if schema.type in _FLOATS:
        return _saturated(column, 64 if bits == 64 else 32)
    if logical_name(schema) == DECIMAL:
        return _lowest_word(column)
    return column.cast("bigint")


def _narrowed(column: Column, bits: int) -> Column:
    """The lowest bits of a LONG as a signed number."""
    if bits == 64:
        return column
    sign = 1 << bits - 1
    return column.bitwiseAND(F.lit((1 << bits) - 1)).bitwiseXOR(F.lit(sign)) - F.lit(sign)


def _saturated(column: Column, bits: int) -> Column:
    """A floating-point number without its fraction; the closest LONG if it does not fit, 0 for NaN."""
    top = (1 << bits - 1) - 1
    far = F.when(F.isnan(column), F.lit(0)).when(column > 0, F.lit(top)).when(column < 0, F.lit(-top - 1))
    return F.coalesce(column.try_cast("int" if bits == 32 else "bigint"), far).cast("bigint")


def _lowest_word(column: Column) -> Column:
    """``BigDecimal.longValue()``: without the fraction, and the lowest 64 bits of large numbers."""
    whole = F.when(column < 0, F.ceil(column)).otherwise(F.floor(column)).cast("decimal(38,0)")
    word = F.lit(str(_WORD)).cast("decimal(20,0)")
    rest = whole % word
    top = F.lit(str(_WORD // 2)).cast("decimal(20,0)")
    return F.when(rest >= top, rest - word).when(rest < -top, rest + word).otherwise(rest).try_cast("bigint")
