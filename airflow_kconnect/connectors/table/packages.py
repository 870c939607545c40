"""What Spark needs for a table format: the jars for its version, and what it has to be started with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidString
from airflow_kconnect.connect.connector.base import SparkNeeds
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.table.formats.registry import DELTA, ICEBERG
from airflow_kconnect.variables.syntax import has_reference

JARS = "table.jars"
_FETCHED, _PROVIDED = "fetched", "provided"

# Version of the format by Spark's.
_RELEASES: Mapping[str, Mapping[str, str]] = {
    ICEBERG: {"4.0": "1.11.0", "4.1": "1.12.0"},
    DELTA: {"4.0": "4.4.0", "4.1": "4.4.0", "4.2": "4.4.0"},
}
_EXTENSIONS = {
    ICEBERG: "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    DELTA: "io.delta.sql.DeltaSparkSessionExtension",
}
_CONF = {
    DELTA: {
        # Its tables are in Spark's own catalog, of which there is one.
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # How many tasks read a table's log at each commit. Delta's fifty are for millions of files, and a third of what
        # a run of few records costs (measured: a merge of 500 takes 22 CPU s with eight, 36 with fifty).
        "spark.databricks.delta.snapshotPartitions": "8",
    }
}


def define_jars_key(config: ConfigDef, group: str) -> None:
    """The key that says who brings the jars."""
    config.define(JARS, Type.STRING, _FETCHED, Importance.LOW,
                  "fetched: the format's jars are fetched when they are needed and are not seen among those of Spark. "
                  "provided: never, since driver and executors have them.",
                  validator=ValidString.in_case_insensitive(_FETCHED, _PROVIDED), group=group)  # fmt: skip


def needs_of(table_format: str, spark_version: str, *, jars: str | None = None) -> SparkNeeds:
    """What Spark has to be started with for tables of a format; nothing for those that it comes with.

    :param spark_version: such as ``4.1.4``; empty if it is not known.
    :param jars: value of `JARS`.
    :raises ConfigError: the format has not been released for this version, or is a variable.
    """
    if has_reference(table_format):
        raise ConfigError({"table.format": ["must not be a variable: Spark has to be started for it"]})
    if table_format not in _RELEASES:
        return SparkNeeds(tuple(_of_plain(table_format, spark_version, jars)))
    extensions, conf = (_EXTENSIONS[table_format],), _CONF.get(table_format, {})
    if (jars or _FETCHED).strip().lower() == _PROVIDED:
        return SparkNeeds(extensions=extensions, conf=conf)
    feature = ".".join(spark_version.split(".")[:2])
    version = _RELEASES[table_format].get(feature)
    if version is None:
        raise ConfigError({"table.format": [_not_released(table_format, spark_version)]})
    coordinates = _of_iceberg if table_format == ICEBERG else _of_delta
    return SparkNeeds(tuple(coordinates(feature, version)), extensions, conf)


def _of_plain(table_format: str, spark_version: str, jars: str | None) -> Iterator[str]:
    """Spark comes with all its formats but one."""
    if table_format == "avro" and spark_version and (jars or _FETCHED).strip().lower() == _FETCHED:
        yield f"org.apache.spark:spark-avro_2.13:jar:{spark_version}"


def _of_iceberg(feature: str, version: str) -> Iterator[str]:
    yield f"org.apache.iceberg:iceberg-spark-runtime-{feature}_2.13:{version}"


def _of_delta(feature: str, version: str) -> Iterator[str]:
    """One by one: what else they name is part of Spark, in newer versions."""
    yield f"io.delta:delta-spark_{feature}_2.13:jar:{version}"
    for artifact in ("delta-storage", "delta-kernel-api", "delta-kernel-defaults", "delta-kernel-unitycatalog"):
        yield f"io.delta:{artifact}:jar:{version}"


def _not_released(table_format: str, spark_version: str) -> str:
    known = ", ".join(_RELEASES[table_format])
    here = f"Spark here is {spark_version}" if spark_version else "the version of Spark is not known here"
    return (
        f"{table_format} has been released for Spark {known}, and {here}:"
        f" pip install 'airflow-kconnect[{table_format}]' chooses one that has it, and `{JARS}`={_PROVIDED} says that"
        " the jars are there"
    )
