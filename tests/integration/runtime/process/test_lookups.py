"""Java's functions are looked up once."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.runtime.process.lookups import remember_lookups


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
