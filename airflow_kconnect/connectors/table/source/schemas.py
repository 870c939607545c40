"""Spark's types as Connect's schemas."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import (
    DATE_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectSchema,
    Field,
    SchemaType,
    decimal_schema,
)
from airflow_kconnect.connect.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql import types as T

_PLAIN = {
    "boolean": SchemaType.BOOLEAN,
    "byte": SchemaType.INT8,
    "short": SchemaType.INT16,
    "integer": SchemaType.INT32,
    "long": SchemaType.INT64,
    "float": SchemaType.FLOAT32,
    "double": SchemaType.FLOAT64,
    "string": SchemaType.STRING,
    "binary": SchemaType.BYTES,
    "variant": SchemaType.STRING,
}


def schema_of(name: str, type_: T.DataType, *, optional: bool, doc: str | None = None) -> ConnectSchema:
    """The schema of a column's values; a VARIANT is text, its JSON.

    :param name: of the column, for messages.
    :raises ConfigError: Connect has nothing for the type.
    """
    from pyspark.sql import types as T

    match type_:
        case T.StructType():
            fields = tuple(
                Field(f.name, schema_of(f"{name}.{f.name}", f.dataType, optional=f.nullable, doc=_comment(f)))
                for f in type_.fields
            )
            return ConnectSchema(SchemaType.STRUCT, optional=optional, doc=doc, fields=fields)
        case T.ArrayType():
            items = schema_of(f"{name}[]", type_.elementType, optional=type_.containsNull)
            return ConnectSchema(SchemaType.ARRAY, optional=optional, doc=doc, value_schema=items)
        case T.MapType():
            key = schema_of(f"{name}.key", type_.keyType, optional=False)
            value = schema_of(f"{name}.value", type_.valueType, optional=type_.valueContainsNull)
            return ConnectSchema(SchemaType.MAP, optional=optional, doc=doc, key_schema=key, value_schema=value)
        case T.DecimalType():
            return replace(decimal_schema(type_.scale), optional=optional, doc=doc)
        case T.DateType():
            return replace(DATE_SCHEMA, optional=optional, doc=doc)
        case T.TimestampType() | T.TimestampNTZType():
            return replace(TIMESTAMP_SCHEMA, optional=optional, doc=doc)
    if (plain := _PLAIN.get(type_.typeName())) is None:
        raise ConfigError({"table.name": [f"column `{name}` is of type {type_.simpleString()}, which Connect has not"]})
    return ConnectSchema(plain, optional, doc=doc)


def value_of(column: Column, type_: T.DataType) -> Column:
    """A column's values as a frame's column of their schema has them."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    match type_:
        case T.StructType():
            members = [value_of(column.getField(f.name), f.dataType).alias(f.name) for f in type_.fields]
            return F.when(column.isNotNull(), F.struct(*members))
        case T.ArrayType():
            return F.transform(column, lambda item: value_of(item, type_.elementType))
        case T.MapType():
            keyed = F.transform_keys(column, lambda key, _: value_of(key, type_.keyType))
            return F.transform_values(keyed, lambda _, value: value_of(value, type_.valueType))
        case T.DecimalType():
            return column.cast(T.DecimalType(38, type_.scale))
        case T.TimestampNTZType():
            return column.cast(T.TimestampType())
        case T.VariantType():
            return F.to_json(column)
    return column


def _comment(field: T.StructField) -> str | None:
    comment = (field.metadata or {}).get("comment")
    return None if comment is None else str(comment)
