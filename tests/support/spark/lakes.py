"""Sessions of tests with the table formats that are released for the PySpark that is installed."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.table.formats.registry import FORMATS
from airflow_kconnect.connectors.table.packages import needs_of
from airflow_kconnect.connectors.table.session_conf import with_conf
from airflow_kconnect.machine.ivy import resolve
from airflow_kconnect.machine.java import find_java
from airflow_kconnect.machine.spark_home import spark_home
from airflow_kconnect.submit.spark import jars_version

CATALOG = "lake"
"""Iceberg's catalog of tests: tables are folders below a warehouse."""

# Delta plans for large tables: fifty tasks read its log, ten thousand list its files. A task costs more than the rows
# of a test; so does a plan that Spark makes again after each stage, and code that is generated for the expressions of a
# task. See `compiled`.
_SMALL = {
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def compiled(spark: SparkSession) -> AbstractContextManager[None]:
    """Within the block Spark generates code for expressions, as in runs: for tests of what becomes of values."""
    return with_conf(spark, {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"})


def lakes_conf(warehouse: Path, *, small: bool = True) -> dict[str, str]:
    """Settings of a session with all formats, and the catalog `lake`; empty if this Spark has none of them.

    :param small: tables are small. If not, Spark and Delta are set as in runs.
    """
    home = spark_home()
    assert home is not None
    try:
        needs = [needs_of(table_format, jars_version(home) or "") for table_format in FORMATS]
    except ConfigError:
        return {}
    java = find_java()
    folders = [resolve(need.coordinates, java=java) for need in needs if need.coordinates]
    jars = [jar for folder in folders for jar in sorted(folder.glob("*.jar"))]
    return {
        "spark.jars": ",".join(map(str, jars)),
        "spark.sql.extensions": ",".join(extension for need in needs for extension in need.extensions),
        **{key: value for need in needs for key, value in need.conf.items()},
        **(_SMALL if small else {}),
        f"spark.sql.catalog.{CATALOG}": "org.apache.iceberg.spark.SparkCatalog",
        f"spark.sql.catalog.{CATALOG}.type": "hadoop",
        f"spark.sql.catalog.{CATALOG}.warehouse": str(warehouse),
    }
