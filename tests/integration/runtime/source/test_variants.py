"""JSON texts as VARIANT: one that Spark refuses is a bad row."""

from __future__ import annotations

from pyspark.sql import SparkSession

from airflow_kconnect.connect.error_cells import record_error
from airflow_kconnect.runtime.source.variants import with_variants

_BROKEN, _DEEP, _PLAIN = '{"a":', "[" * 1200 + "]" * 1200, '{"a":1}'


def test_what_spark_refuses_is_a_bad_row_and_others_stay(spark: SparkSession) -> None:
    texts = [(_PLAIN, None), (_BROKEN, None), (None, "mine"), (_DEEP, None), (None, None), ("null", None)]
    found = with_variants(spark.createDataFrame(texts, "value string, error string"), [], ["value"])
    rows = found.selectExpr("to_json(value) AS value", "error").collect()
    assert [row.value for row in rows] == [_PLAIN, None, None, None, None, "null"]
    errors = [row.error and (record_error(row.error) or row.error) for row in rows]
    assert [getattr(error, "stage", error) for error in errors] == [
        None, "VALUE_CONVERTER", "mine", "VALUE_CONVERTER", None, None,
    ]  # fmt: skip


def test_error_names_the_part_and_an_earlier_one_stays(spark: SparkSession) -> None:
    texts = [(_DEEP, _PLAIN, None), (_PLAIN, _DEEP, None), (_DEEP, _DEEP, "mine")]
    rows = spark.createDataFrame(texts, "key string, value string, error string")
    found = [row.error for row in with_variants(rows, ["key"], ["value"]).collect()]
    stages = [getattr(record_error(text), "stage", text) for text in found]
    assert stages == ["KEY_CONVERTER", "VALUE_CONVERTER", "mine"]
