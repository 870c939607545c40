"""Keys of maps in JSON lines: texts, written as values of their types are. Spark alone writes addresses of bytes."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import DATE, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.converters.base64_text import base64_text
from airflow_kconnect.converters.types import logical_name

_INSTANT = "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'"


def with_text_keys(schema: ConnectSchema, column: Column) -> Column:
    """The same value; keys of maps in it are texts where `to_json` would not write them as values."""
    if not _has_other_keys(schema):
        return column
    keys, values = schema.key_schema, schema.value_schema
    match schema.type:
        case SchemaType.STRUCT:
            members = [with_text_keys(f.schema, column.getField(f.name)).alias(f.name) for f in schema.fields]
            return F.when(column.isNotNull(), F.struct(*members))
        case SchemaType.ARRAY if values is not None:
            return F.transform(column, lambda item: with_text_keys(values, item))
        case SchemaType.MAP if keys is not None and values is not None:
            inner = F.transform_values(column, lambda _, value: with_text_keys(values, value))
            return F.transform_keys(inner, lambda key, _: _text(keys, key)) if _is_other(keys) else inner
    return column


def _text(schema: ConnectSchema, key: Column) -> Column:
    match logical_name(schema):
        case name if name == DATE:
            return key.cast("string")
        case name if name == TIMESTAMP:
            return F.date_format(key, _INSTANT)
    return base64_text(key) if schema.type is SchemaType.BYTES else F.to_json(key, {"ignoreNullFields": "false"})


def _is_other(keys: ConnectSchema) -> bool:
    name = logical_name(keys)
    return name in (DATE, TIMESTAMP) or (name is None and keys.type is SchemaType.BYTES) or not keys.type.is_primitive


def _has_other_keys(schema: ConnectSchema) -> bool:
    inner = [*(f.schema for f in schema.fields), *(s for s in (schema.value_schema,) if s is not None)]
    own = schema.key_schema is not None and _is_other(schema.key_schema)
    return own or any(map(_has_other_keys, inner))
