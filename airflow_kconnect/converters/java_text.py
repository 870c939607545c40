"""Java's toString() for Connect data, as Catalyst expressions."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.converters.base64_text import base64_text
from airflow_kconnect.converters.decimals import decimal_text
from airflow_kconnect.converters.header_text.columns import JSON_ESCAPES, without_escape
from airflow_kconnect.converters.types import decimal_scale, logical_name

# java.util.Date.toString() in a worker whose time zone is UTC.
_JAVA_DATE = "EEE MMM dd HH:mm:ss 'UTC' yyyy"


def java_text(schema: ConnectSchema | None, column: Column) -> Column:
    """Text of the values of a column; null stays null."""
    if schema is None:
        return _schemaless_text(column)
    match logical_name(schema):
        case name if name in (DATE, TIME, TIMESTAMP):
            instant = F.timestamp_millis(column) if name == TIME else column.cast("timestamp")
            return F.date_format(instant, _JAVA_DATE)
        case name if name == DECIMAL:
            return decimal_text(column, decimal_scale(schema))
        case None:
            return _plain_text(schema, column)
        case _:
            return column.cast("string")


def _plain_text(schema: ConnectSchema, column: Column) -> Column:
    match schema.type:
        case SchemaType.STRUCT:
            members = (_member(f.name, java_text(f.schema, column.getField(f.name))) for f in schema.fields)
            return _guarded(column, F.concat(F.lit("Struct{"), F.concat_ws(",", *members), F.lit("}")))
        case SchemaType.ARRAY:
            items = F.transform(column, lambda item: _inner(schema.value_schema, item))
            return _guarded(column, F.concat(F.lit("["), F.array_join(items, ", "), F.lit("]")))
        case SchemaType.MAP:
            return _map_text(schema, column)
        case SchemaType.BYTES:
            # Java prints the identity of the array, which is useless.
            return base64_text(column)
        case _:
            return column.cast("string")


def _map_text(schema: ConnectSchema, column: Column) -> Column:
    def entry(pair: Column) -> Column:
        key, value = _inner(schema.key_schema, pair["key"]), _inner(schema.value_schema, pair["value"])
        return F.concat(key, F.lit("="), value)

    entries = F.transform(F.map_entries(column), entry)
    return _guarded(column, F.concat(F.lit("{"), F.array_join(entries, ", "), F.lit("}")))


def _member(name: str, text: Column) -> Column:
    return F.concat(F.lit(f"{name}="), text)


def _inner(schema: ConnectSchema | None, column: Column) -> Column:
    return F.coalesce(java_text(schema, column), F.lit("null"))


def _guarded(column: Column, text: Column) -> Column:
    return F.when(column.isNotNull(), text)


def _schemaless_text(column: Column) -> Column:
    """Scalars as they are; the JSON text of objects and lists is rewritten to Java's `{a=1, b=[x, null]}`."""
    scalar = F.try_variant_get(column, "$", "string")
    nested = F.schema_of_variant(column).rlike("^(OBJECT|ARRAY)<")
    return F.when(nested, _java_of_json(F.to_json(column))).otherwise(scalar)


def _java_of_json(text: Column) -> Column:
    string = r'"(?:[^"\\]|\\.)*+"'
    strings_as_they_are = (
        (rf'\G((?:[^",]|{string})*+),', "$1, "),
        (rf'\G((?:[^"]|{string}(?!:))*+)"((?:[^"\\]|\\.)*+)":', "$1$2="),
        (r'\G((?:[^"\\]|\\.)*+)"((?:[^"\\]|\\.)*+)"', "$1$2"),
    )
    for pattern, replacement in strings_as_they_are:
        text = F.regexp_replace(text, pattern, replacement)
    return F.regexp_replace(reduce(without_escape, JSON_ESCAPES, text), r"\\([\"\\])", "$1")
