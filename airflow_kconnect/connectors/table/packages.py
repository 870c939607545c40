"""What Spark needs for a table format: the jars for its version, and what it has to be started with."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_kconnect.connect.connector.base import SparkNeeds
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.table.formats.registry import DELTA, ICEBERG

_ICEBERG = {"4.0": "1.11.0", "4.1": "1.12.0"}
_DELTA = {"4.0": "4.4.0", "4.1": "4.4.0", "4.2": "4.4.0"}

_EXTENSIONS = {
    ICEBERG: "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    DELTA: "io.delta.sql.DeltaSparkSessionExtension",
}
# Delta's tables are in Spark's own catalog, of which it has one.
_CONF = {DELTA: {"spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog"}}


def needs_of(table_format: str, spark_version: str) -> SparkNeeds:
    """What Spark has to be started with for tables of a format; nothing for those that it comes with.

    :param spark_version: such as ``4.1.4``.
    :raises ConfigError: the format has not been released for this version.
    """
    if table_format not in _EXTENSIONS:
        return SparkNeeds()
    feature = ".".join(spark_version.split(".")[:2])
    coordinates = _coordinates(table_format, feature)
    if coordinates is None:
        raise ConfigError({"table.format": [_not_released(table_format, spark_version)]})
    return SparkNeeds(coordinates, (_EXTENSIONS[table_format],), _CONF.get(table_format, {}))


def _coordinates(table_format: str, feature: str) -> tuple[str, ...] | None:
    released: Mapping[str, str] = _ICEBERG if table_format == ICEBERG else _DELTA
    if feature not in released:
        return None
    if table_format == ICEBERG:
        return (f"org.apache.iceberg:iceberg-spark-runtime-{feature}_2.13:{released[feature]}",)
    return (f"io.delta:delta-spark_{feature}_2.13:{released[feature]}",)


def _not_released(table_format: str, spark_version: str) -> str:
    known = sorted(_ICEBERG if table_format == ICEBERG else _DELTA)
    return (
        f"{table_format} has been released for Spark {', '.join(known)}, and Spark here is {spark_version}:"
        f" pip install 'airflow-kconnect[{table_format}]' chooses one that has it"
    )
