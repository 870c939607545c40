"""Java's functions are looked up once."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, IntegerType, MapType, StringType

from airflow_kconnect.runtime.process.lookups import _JAVA_TYPES, remember_lookups


def test_a_function_is_looked_up_once(spark: SparkSession) -> None:
    remember_lookups(spark)
    functions = getattr(spark._jvm, "org.apache.spark.sql.functions")

    assert functions.upper is functions.upper


def test_remembered_functions_are_those_of_spark(spark: SparkSession) -> None:
    remember_lookups(spark)
    remember_lookups(spark)

    row = spark.range(1).select(F.upper(F.lit("a")), F.coalesce(F.lit(None).cast("int"), F.lit(7))).first()

    assert row is not None
    assert tuple(row) == ("A", 7)


@pytest.mark.parametrize("method", ["cast", "try_cast"])
def test_a_cast_to_a_named_type_is_that_of_spark(spark: SparkSession, method: str) -> None:
    remember_lookups(spark)

    casted = spark.range(0).select([getattr(F.lit(None), method)(name).alias(name) for name in _JAVA_TYPES])

    assert {field.name: field.dataType for field in casted.schema} == {n: DataType.fromDDL(n) for n in _JAVA_TYPES}


def test_other_names_of_types_are_read_by_spark(spark: SparkSession) -> None:
    remember_lookups(spark)

    assert spark.range(0).select(F.lit(None).cast("map<string,int>").alias("a")).schema["a"].dataType == MapType(
        StringType(), IntegerType()
    )
