"""`values.convert_to_string` as Catalyst expressions over whole columns."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.converters.base64_text import base64_text
from airflow_kconnect.converters.decimals import decimal_text
from airflow_kconnect.converters.json.read import or_default
from airflow_kconnect.converters.json.rules import Rules
from airflow_kconnect.converters.json.values import DAY_MS
from airflow_kconnect.converters.types import decimal_scale, logical_name

_TIME = "HH:mm:ss.SSS'Z'"
_DEFAULTS = Rules()
# Characters that JSON escapes but Connect's texts do not.
JSON_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def value_text(schema: ConnectSchema | None, column: Column) -> Column:
    """Text of the values of a column; null stays null."""
    if schema is None:
        return _schemaless_text(column)
    if logical_name(schema) is None and schema.type is SchemaType.STRING:
        return column
    if logical_name(schema) is None and schema.type is SchemaType.BYTES:
        return base64_text(column)
    return _nested_text(schema, column)


def _nested_text(schema: ConnectSchema, column: Column) -> Column:
    """The text inside lists and maps, where strings are quoted."""
    match logical_name(schema):
        case name if name == DATE:
            return _temporal_text(F.unix_date(column) * F.lit(DAY_MS).cast("bigint"))
        case name if name == TIME:
            return _temporal_text(column.cast("bigint"))
        case name if name == TIMESTAMP:
            return _temporal_text(F.unix_millis(column))
        case name if name == DECIMAL:
            return decimal_text(column, decimal_scale(schema))
        case _:
            return _plain_text(schema, column)


def _plain_text(schema: ConnectSchema, column: Column) -> Column:
    items = schema.value_schema
    match schema.type:
        case SchemaType.STRING:
            return _quoted(column)
        case SchemaType.BYTES:
            return _quoted(base64_text(column))
        case SchemaType.STRUCT:
            members = [_member(f.name, f.schema, column.getField(f.name)) for f in schema.fields]
            return F.when(column.isNotNull(), _enclosed("{", F.concat_ws(",", *members), "}"))
        case SchemaType.ARRAY if items is not None:
            return _enclosed("[", F.array_join(F.transform(column, lambda item: _inner(items, item)), ","), "]")
        case SchemaType.MAP if items is not None and schema.key_schema is not None:
            return _map_text(schema.key_schema, items, column)
        case _:
            return column.cast("string")


def _member(name: str, schema: ConnectSchema, column: Column) -> Column:
    return F.concat(_quoted(F.lit(name)), F.lit(":"), _inner(schema, or_default(schema, column, _DEFAULTS)))


def _map_text(keys: ConnectSchema, values: ConnectSchema, column: Column) -> Column:
    def entry(pair: Column) -> Column:
        return F.concat(_inner(keys, pair["key"]), F.lit(":"), _inner(values, pair["value"]))

    return _enclosed("{", F.array_join(F.transform(F.map_entries(column), entry), ","), "}")


def _inner(schema: ConnectSchema, column: Column) -> Column:
    return F.coalesce(_nested_text(schema, column), F.lit("null"))


def _enclosed(before: str, text: Column, after: str) -> Column:
    return F.concat(F.lit(before), text, F.lit(after))


def _quoted(text: Column) -> Column:
    return _enclosed('"', F.regexp_replace(text, r'([\\"])', r"\\$1"), '"')


def _temporal_text(ms: Column) -> Column:
    """Connect looks at the instant, not at the schema: anything before the second day is a time."""
    instant = F.timestamp_millis(ms)
    text = F.when(ms < DAY_MS, F.date_format(instant, _TIME)).when(
        ms % DAY_MS == 0, F.date_format(instant, "yyyy-MM-dd")
    )
    return text.otherwise(F.date_format(instant, f"yyyy-MM-dd'T'{_TIME}"))


def _schemaless_text(column: Column) -> Column:
    kind = F.schema_of_variant(column)
    fraction = F.try_variant_get(column, "$", "double").cast("string")
    nested = reduce(without_escape, JSON_ESCAPES, F.to_json(column))
    return (
        F.when(kind.rlike("^(OBJECT|ARRAY)<"), nested)
        .when(kind.rlike("^(DECIMAL|FLOAT|DOUBLE)"), fraction)
        .when(kind == "BINARY", base64_text(F.try_variant_get(column, "$", "binary")))
        .otherwise(F.try_variant_get(column, "$", "string"))
    )


def without_escape(text: Column, letter: str) -> Column:
    """JSON text in which one of the `JSON_ESCAPES` is replaced by the character itself."""
    return F.regexp_replace(text, rf"(?<!\\)((?:\\\\)*)\\{letter}", f"$1{JSON_ESCAPES[letter]}")
