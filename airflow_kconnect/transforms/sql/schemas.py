"""The Connect schemas for Spark's types: the inverse of `converters.types.spark_type`."""

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
from airflow_kconnect.connect.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_PRIMITIVES = {
    "boolean": SchemaType.BOOLEAN,
    "tinyint": SchemaType.INT8,
    "smallint": SchemaType.INT16,
    "int": SchemaType.INT32,
    "bigint": SchemaType.INT64,
    "float": SchemaType.FLOAT32,
    "double": SchemaType.FLOAT64,
    "binary": SchemaType.BYTES,
    # The type of NULL.
    "void": SchemaType.STRING,
}


def is_schemaless(type_: DataType) -> bool:
    """Whether the type contains a VARIANT: such data have no schema."""
    from pyspark.sql import types as spark

    match type_:
        case spark.StructType():
            return any(is_schemaless(member.dataType) for member in type_)
        case spark.ArrayType():
            return is_schemaless(type_.elementType)
        case spark.MapType():
            return is_schemaless(type_.valueType)
        case _:
            return isinstance(type_, spark.VariantType)


def connect_schema(type_: DataType, *, optional: bool) -> ConnectSchema:
    """The schema of a column; nullable parts become optional.

    :raises DataError: Connect has no such type.
    """
    from pyspark.sql import types as spark

    match type_:
        case spark.StructType():
            return ConnectSchema(SchemaType.STRUCT, optional, fields=_fields(type_))
        case spark.ArrayType():
            items = connect_schema(type_.elementType, optional=type_.containsNull)
            return ConnectSchema(SchemaType.ARRAY, optional, value_schema=items)
        case spark.MapType():
            keys = connect_schema(type_.keyType, optional=False)
            values = connect_schema(type_.valueType, optional=type_.valueContainsNull)
            return ConnectSchema(SchemaType.MAP, optional, key_schema=keys, value_schema=values)
        case spark.DecimalType():
            return replace(decimal_schema(type_.scale), optional=optional)
        case spark.DateType():
            return replace(DATE_SCHEMA, optional=optional)
        case spark.TimestampType() | spark.TimestampNTZType():
            return replace(TIMESTAMP_SCHEMA, optional=optional)
        case spark.StringType():
            return ConnectSchema(SchemaType.STRING, optional)
        case _ if type_.simpleString() in _PRIMITIVES:
            return ConnectSchema(_PRIMITIVES[type_.simpleString()], optional)
        case _:
            raise DataError(f"Connect has no type for {type_.simpleString().upper()}")


def _fields(type_: StructType) -> tuple[Field, ...]:
    if len(set(type_.names)) < len(type_.names) or "" in type_.names:
        raise DataError(f"The names of a struct's fields must be different and not empty: {', '.join(type_.names)}")
    return tuple(Field(member.name, connect_schema(member.dataType, optional=member.nullable)) for member in type_)
