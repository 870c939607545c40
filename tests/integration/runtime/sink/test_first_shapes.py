"""Which shape the records of a split begin with, as connectors want to know that keep the columns of a topic."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import ConnectSchema, SchemaType, Shape
from airflow_kconnect.connect.frame import RecordFrame, Union, single
from airflow_kconnect.runtime.sink.jobs import first_shapes, first_tags

TEXT, NUMBER = (Shape(ConnectSchema(type_)) for type_ in (SchemaType.STRING, SchemaType.INT32))
_STAGES = 6


def test_the_first_good_value_of_each_split_counts(spark: SparkSession) -> None:
    rows = [(0, 7, "bad", 0), (0, 9, None, 0), (0, 8, None, 1), (1, 3, None, None), (1, 4, None, 0), (2, 5, "bad", 1)]
    frame = _frame(_in_splits(spark, rows), Union((TEXT, NUMBER), ("text", "number"), "tag"))
    assert first_shapes(frame) == {0: NUMBER, 1: TEXT}


def test_values_that_all_have_one_shape_have_no_tag(spark: SparkSession) -> None:
    frame = _frame(_in_splits(spark, [(0, 1, None, None), (1, 2, "bad", None)]), single(TEXT, "text"))
    assert first_shapes(frame) == {0: TEXT}


def test_the_plan_does_not_grow_with_each_stage(spark: SparkSession) -> None:
    """Each stage names the one before it three times, as converters and transformations do."""
    df = _in_splits(spark, [(0, 1, None, 0)])
    for _ in range(_STAGES):
        error = F.col("error")
        df = df.withColumn("error", F.when(error == "a", F.concat(error, F.lit("b"))).otherwise(F.upper(error)))
    frame = _frame(df, Union((TEXT, NUMBER), ("text", "number"), "tag"))
    key = "spark.sql.optimizer.avoidDoubleFilterEval"
    spark.conf.set(key, "false")  # as Spark 4.0 and 4.1 are
    try:
        plan = first_tags(frame)._jdf.queryExecution().optimizedPlan().toString()
    finally:
        spark.conf.unset(key)
    assert plan.count("CASE WHEN") <= 2 * _STAGES


def _in_splits(spark: SparkSession, rows: list[tuple[int, int, str | None, int | None]]) -> DataFrame:
    """Rows of split, offset, error and tag in a Spark partition for each split."""
    fields = "split int, kafka_offset long, error string, tag int"
    count = 1 + max(row[0] for row in rows)
    return spark.createDataFrame(rows, fields).repartitionByRange(count, "split")


def _frame(df: DataFrame, value: Union) -> RecordFrame:
    return RecordFrame(df, value, carried=("kafka_offset", "error"))
