"""Which jars a table format needs, by Spark's version."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.table.packages import needs_of


@pytest.mark.parametrize(
    "table_format, spark, artifact",
    [
        ("iceberg", "4.0.2", "iceberg-spark-runtime-4.0_2.13:1.11.0"),
        ("iceberg", "4.1.4", "iceberg-spark-runtime-4.1_2.13:1.12.0"),
        ("delta", "4.1.4", "delta-spark_4.1_2.13:jar:4.4.0"),
        ("delta", "4.2.0", "delta-spark_4.2_2.13:jar:4.4.0"),
        ("avro", "4.1.4", "spark-avro_2.13:jar:4.1.4"),
    ],
)
def test_the_jars_are_those_for_the_version_of_spark(table_format: str, spark: str, artifact: str) -> None:
    assert artifact in " ".join(needs_of(table_format, spark).coordinates)


def test_a_version_of_spark_for_which_there_is_no_release_is_an_error_that_says_what_to_install() -> None:
    with pytest.raises(ConfigError, match=r"Spark 4\.0, 4\.1, and Spark here is 4\.3\.0: pip install 'airflow-kconnec"):
        needs_of("iceberg", "4.3.0")


def test_nothing_is_fetched_if_the_jars_are_provided() -> None:
    needs = needs_of("iceberg", "4.3.0", jars="Provided")
    assert needs.coordinates == ()
    assert needs.extensions == ("org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",)


def test_the_format_is_no_variable() -> None:
    with pytest.raises(ConfigError, match="must not be a variable"):
        needs_of("${env:format}", "4.1.4")


def test_a_format_that_spark_comes_with_needs_nothing() -> None:
    assert needs_of("parquet", "4.3.0").coordinates == ()


def test_few_tasks_read_deltas_log() -> None:
    assert needs_of("delta", "4.1.4", jars="provided").conf["spark.databricks.delta.snapshotPartitions"] == "8"
