"""Schemaless data as Java sees them: the classes of VARIANT values, and the members of objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.converters.types import logical_name, spark_type

if TYPE_CHECKING:
    from pyspark.sql import Column

_KINDS = {
    "BIGINT": ConnectSchema(SchemaType.INT64),
    "DOUBLE": ConnectSchema(SchemaType.FLOAT64),
    # Spark keeps the exact digits of JSON's fractions; for Connect they are doubles.
    "DECIMAL": ConnectSchema(SchemaType.FLOAT64),
    "FLOAT": ConnectSchema(SchemaType.FLOAT32),
    "BOOLEAN": ConnectSchema(SchemaType.BOOLEAN),
    "STRING": ConnectSchema(SchemaType.STRING),
    "BINARY": ConnectSchema(SchemaType.BYTES),
    "TIMESTAMP": ConnectSchema(SchemaType.INT64, name=TIMESTAMP),
    "DATE": ConnectSchema(SchemaType.INT32, name=DATE),
    "ARRAY": ConnectSchema(SchemaType.ARRAY),
    "OBJECT": ConnectSchema(SchemaType.MAP),
}
_CLASSES = {
    SchemaType.BOOLEAN: "java.lang.Boolean",
    SchemaType.INT8: "java.lang.Byte",
    SchemaType.INT16: "java.lang.Short",
    SchemaType.INT32: "java.lang.Integer",
    SchemaType.INT64: "java.lang.Long",
    SchemaType.FLOAT32: "java.lang.Float",
    SchemaType.FLOAT64: "java.lang.Double",
    SchemaType.BYTES: "[B",
    SchemaType.STRING: "java.lang.String",
    SchemaType.ARRAY: "java.util.ArrayList",
    SchemaType.MAP: "java.util.HashMap",
    SchemaType.STRUCT: "org.apache.kafka.connect.data.Struct",
}


def java_class(schema: ConnectSchema) -> str:
    """Name of the Java class for values of a schema."""
    name = logical_name(schema)
    if name in (DATE, TIME, TIMESTAMP):
        return "java.util.Date"
    return "java.math.BigDecimal" if name == DECIMAL else _CLASSES[schema.type]


def by_kind(variant: Column, make: Callable[[ConnectSchema], Column]) -> Column:
    """For each VARIANT the result for its kind of value; null for null.

    :param make: called with each schema that a value may have: objects are MAPs.
    """
    from pyspark.sql import functions as F

    def choose(kind: Column) -> Column:
        (first, schema), *others = _KINDS.items()
        start = F.when(kind == first, make(schema))
        return reduce(lambda chosen, option: chosen.when(kind == option[0], make(option[1])), others, start)

    return bound(F.substring_index(F.substring_index(F.schema_of_variant(variant), "<", 1), "(", 1), choose)


def bound(column: Column, use: Callable[[Column], Column]) -> Column:
    """The result of `use` for a column that is evaluated only once, however often it is used.

    Its code stays small, too: inlined code for each kind of VARIANT exceeds Java's method size limit.
    """
    from pyspark.sql import functions as F

    return F.get(F.transform(F.array(column), use), F.lit(0))


def as_type(variant: Column, schema: ConnectSchema) -> Column:
    """The VARIANT's value in a column of the schema's type; arrays and objects stay VARIANTs."""
    from pyspark.sql import functions as F

    if not schema.type.is_primitive:
        return variant
    return F.try_variant_get(variant, "$", spark_type(schema).simpleString())


def members(variant: Column) -> Column:
    """MAP<STRING, VARIANT> of an object; null for everything else."""
    from pyspark.sql import functions as F

    return F.try_variant_get(variant, "$", "map<string,variant>")


def with_members(variant: Column, new: Mapping[str, Column]) -> Column:
    """A VARIANT object with members added or replaced, null for anything else.

    :param new: nulls among them become JSON nulls, also of members that the object does not have, as in Connect.
    """
    from pyspark.sql import functions as F

    added = F.create_map(*(part for name, column in new.items() for part in (F.lit(name), column)))
    return F.to_variant_object(F.map_concat(members(variant), added))
