"""Connect schemas of Spark types."""

from __future__ import annotations

import pytest
from pyspark.sql import types as spark

from airflow_kconnect.connect.data import DATE, DECIMAL, TIMESTAMP, ConnectSchema, SchemaType, struct
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.types import spark_type
from airflow_kconnect.transforms.sql.schemas import connect_schema, is_schemaless

INT = ConnectSchema(SchemaType.INT32, optional=True)
TEXT = ConnectSchema(SchemaType.STRING)
PRIMITIVES = [ConnectSchema(type_, optional=True) for type_ in SchemaType if type_.is_primitive]
OTHERS = [
    ConnectSchema(SchemaType.INT32, True, name=DATE, version=1),
    ConnectSchema(SchemaType.INT64, True, name=TIMESTAMP, version=1),
    ConnectSchema(SchemaType.BYTES, True, name=DECIMAL, version=1, parameters={"scale": "4"}),
    ConnectSchema(SchemaType.ARRAY, True, value_schema=INT),
    ConnectSchema(SchemaType.MAP, True, key_schema=TEXT, value_schema=INT),
    struct(("a", INT), ("b", struct(("c", INT), optional=True)), optional=True),
]


@pytest.mark.parametrize("schema", [*PRIMITIVES, *OTHERS], ids=lambda schema: schema.name or schema.type)
def test_is_the_inverse_of_spark_type(schema: ConnectSchema) -> None:
    assert connect_schema(spark_type(schema), optional=True) == schema


def test_what_is_not_nullable_is_required() -> None:
    items = spark.ArrayType(spark.IntegerType(), containsNull=False)
    schema = connect_schema(spark.StructType([spark.StructField("a", items, nullable=False)]), optional=False)
    integer = ConnectSchema(SchemaType.INT32)
    assert schema == struct(("a", ConnectSchema(SchemaType.ARRAY, value_schema=integer)))


def test_null_is_an_optional_string() -> None:
    assert connect_schema(spark.NullType(), optional=True) == ConnectSchema(SchemaType.STRING, optional=True)


def test_some_types_have_no_schema() -> None:
    with pytest.raises(DataError, match="INTERVAL"):
        connect_schema(spark.DayTimeIntervalType(), optional=False)


@pytest.mark.parametrize(
    ("type_", "schemaless"),
    [
        ("variant", True),
        ("array<variant>", True),
        ("map<string,struct<a:variant>>", True),
        ("struct<variant:string>", False),
    ],
)
def test_data_with_a_variant_in_them_are_schemaless(type_: str, schemaless: bool) -> None:
    named = {
        "variant": spark.VariantType(),
        "array<variant>": spark.ArrayType(spark.VariantType()),
        "map<string,struct<a:variant>>": spark.MapType(
            spark.StringType(), spark.StructType([spark.StructField("a", spark.VariantType())])
        ),
        "struct<variant:string>": spark.StructType([spark.StructField("variant", spark.StringType())]),
    }
    assert is_schemaless(named[type_]) is schemaless
