"""The Spark and Arrow types of Connect schemas, and the session settings that the converters rely on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import types as spark

SESSION_CONF = {
    # Instants are milliseconds since the epoch: the machine's time zone must have no influence.
    "spark.sql.session.timeZone": "UTC",
    # Bad data are errors, not nulls.
    "spark.sql.ansi.enabled": "true",
    # Names of Connect's struct fields and JSON members are case-sensitive.
    "spark.sql.caseSensitive": "true",
    # As in Jackson: the last of two equal members wins.
    "spark.sql.variant.allowDuplicateKeys": "true",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
}
"""Settings that a session needs for the converters to behave as Connect's."""

MAX_PRECISION = 38
DEPTH_MAX = 16
SCHEMAS_MAX = 5_000
"""How deep schemas may nest, and how many may be in one: Spark's plans cannot hold more columns."""
LOGICAL_TYPES = {
    DECIMAL: SchemaType.BYTES,
    DATE: SchemaType.INT32,
    TIME: SchemaType.INT32,
    TIMESTAMP: SchemaType.INT64,
}


INTEGER_BITS = {SchemaType.INT8: 8, SchemaType.INT16: 16, SchemaType.INT32: 32, SchemaType.INT64: 64}


def logical_name(schema: ConnectSchema) -> str | None:
    """Name of a schema's logical type in Connect (Decimal, Date, Time, Timestamp), or None."""
    return schema.name if LOGICAL_TYPES.get(schema.name or "") is schema.type else None


def is_misnamed(schema: ConnectSchema) -> bool:
    """Whether a schema has the name of a logical type but not its type: possible after a transformation."""
    return schema.name in LOGICAL_TYPES and logical_name(schema) is None


def decimal_scale(schema: ConnectSchema) -> int:
    """Scale of a Decimal schema.

    :raises DataError: it has none, or one that no Spark column can have.
    """
    text = (schema.parameters or {}).get("scale")
    if text is None:
        raise DataError("Invalid Decimal schema: scale parameter not found.")
    if not re.fullmatch("[0-9]{1,9}", text) or int(text) > MAX_PRECISION:
        raise DataError(f"Invalid scale of a Decimal schema: {text}, expected 0 to {MAX_PRECISION}")
    return int(text)


def has_map(schema: ConnectSchema) -> bool:
    """Whether there is a map in data of a schema: Spark has no maps with such keys."""
    inner = [field.schema for field in schema.fields] + [s for s in (schema.value_schema,) if s is not None]
    return schema.type is SchemaType.MAP or any(map(has_map, inner))


def spark_type(schema: ConnectSchema | None) -> spark.DataType:
    """Type of the column that holds data of a schema; None (schemaless) is VARIANT.

    Time is an integer (milliseconds of the day): Spark's TIME is off by default in 4.3.
    """
    from pyspark.sql import types as spark

    if schema is None:
        return spark.VariantType()
    name = logical_name(schema)
    if name == DECIMAL:
        return spark.DecimalType(MAX_PRECISION, decimal_scale(schema))
    if name in (DATE, TIMESTAMP):
        return spark.DateType() if name == DATE else spark.TimestampType()
    return _plain_type(schema)


def _plain_type(schema: ConnectSchema) -> spark.DataType:
    from pyspark.sql import types as spark

    match schema.type:
        case SchemaType.STRUCT:
            members = [spark.StructField(f.name, spark_type(f.schema)) for f in schema.fields]
            return spark.StructType(members)
        case SchemaType.ARRAY:
            return spark.ArrayType(spark_type(schema.value_schema))
        case SchemaType.MAP:
            return spark.MapType(spark_type(schema.key_schema), spark_type(schema.value_schema))
        case primitive:
            return primitive_type(primitive)


def primitive_type(type_: SchemaType) -> spark.DataType:
    """Type of the column for a primitive type of Connect."""
    from pyspark.sql import types as spark

    return {
        SchemaType.BOOLEAN: spark.BooleanType(),
        SchemaType.INT8: spark.ByteType(),
        SchemaType.INT16: spark.ShortType(),
        SchemaType.INT32: spark.IntegerType(),
        SchemaType.INT64: spark.LongType(),
        SchemaType.FLOAT32: spark.FloatType(),
        SchemaType.FLOAT64: spark.DoubleType(),
        SchemaType.BYTES: spark.BinaryType(),
        SchemaType.STRING: spark.StringType(),
    }[type_]


def arrow_type(schema: ConnectSchema | None) -> pa.DataType:
    """Arrow type of the same column, as Spark passes it to and from Python; VARIANT is a struct of two binaries.

    Spark itself says so only if PySpark is imported, which takes half a second.
    """
    import pyarrow as pa

    if schema is None:
        variant = pa.field("metadata", pa.binary(), nullable=False, metadata={"variant": "true"})
        return pa.struct([pa.field("value", pa.binary(), nullable=False), variant])
    name = logical_name(schema)
    if name == DECIMAL:
        return pa.decimal128(MAX_PRECISION, decimal_scale(schema))
    if name in (DATE, TIMESTAMP):
        return pa.date32() if name == DATE else pa.timestamp("us", tz="UTC")
    match schema.type:
        case SchemaType.STRUCT:
            return pa.struct([pa.field(f.name, arrow_type(f.schema)) for f in schema.fields])
        case SchemaType.ARRAY:
            return pa.list_(pa.field("element", arrow_type(schema.value_schema)))
        case SchemaType.MAP:
            return pa.map_(arrow_type(schema.key_schema), arrow_type(schema.value_schema))
        case SchemaType.FLOAT32 | SchemaType.FLOAT64:
            return pa.float32() if schema.type is SchemaType.FLOAT32 else pa.float64()
        case SchemaType.BOOLEAN:
            return pa.bool_()
        case SchemaType.BYTES:
            return pa.binary()
        case plain:
            return pa.type_for_alias(plain.value)
