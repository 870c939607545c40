"""What other programs find in the demo's table: Spark's SQL shell, and DuckDB where it is installed."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.submit.spark import SparkSubmit, find_spark_submit
from airflow_kconnect.submit.spark_needs import needs_of, with_needs
from airflow_kconnect.submit.submit import submit_environment

DUCKDB_MISSING = "DuckDB reads it too, where it is installed: pip install 'airflow-kconnect[demo]'"
Row = dict[str, Any]

_ICEBERG = {"connector.class": "SparkTableSink", "table.format": "iceberg"}
_SHELL = "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver"
_MASTER = "local[1]"
_CATALOG = "spark.sql.catalog.lake"
# Its own catalog would be a database in the current folder.
_QUIET = {"spark.log.level": "ERROR", "spark.ui.enabled": "false", "spark.sql.catalogImplementation": "in-memory"}
_LOG = 2000


def check_iceberg(spark: SparkSubmit) -> None:
    """Find out before anything is started whether Iceberg has been released for this Spark.

    :raises SetupError: it has not.
    """
    try:
        needs_of(_ICEBERG, spark.version)
    except ConfigError:
        cure = "pip install 'airflow-kconnect[demo]' replaces it by one that Iceberg has been released for"
        if spark.pyspark is None or "SPARK_HOME" in os.environ:
            cure = "take it off PATH and unset SPARK_HOME, then pip install 'airflow-kconnect[demo]'"
        found = f"{spark.version or 'of an unknown version'}, in {spark.home or spark.program}"
        raise SetupError(f"Iceberg has not been released for the Spark that was found, {found}: {cure}.") from None


def spark_answers(warehouse: Path, queries: Sequence[str]) -> list[list[Row]]:
    """The rows of queries by Spark's SQL shell, in which the catalog `lake` is a folder.

    :raises SetupError: it has failed.
    """
    spark = find_spark_submit()
    catalog = {_CATALOG: "org.apache.iceberg.spark.SparkCatalog", f"{_CATALOG}.type": "hadoop",
               f"{_CATALOG}.warehouse": str(warehouse)}  # fmt: skip
    conf = with_needs({**catalog, **_QUIET}, [_ICEBERG], spark)
    options = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    # Each row says which query it answers.
    numbered = (f"select {n} as query, to_json(struct(*)) as row from ({query})" for n, query in enumerate(queries))
    shell = [str(spark.program), "--class", _SHELL, "--master", _MASTER, *options, "-S", "-e", "; ".join(numbered)]
    done = subprocess.run(
        shell, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=submit_environment(_MASTER), check=False
    )
    if done.returncode != 0:
        raise SetupError(f"Spark cannot read the table: {done.stderr[-_LOG:].strip()}")
    rows = [line.split("\t", 1) for line in done.stdout.splitlines() if "\t{" in line]
    return [[json.loads(row) for number, row in rows if int(number) == n] for n in range(len(queries))]


def duckdb_answer(table: Path, name: str, query: str) -> list[Row] | None:
    """The rows of a query by DuckDB, for which pyiceberg has read the table; None if these are not installed.

    DuckDB's own extension for Iceberg would have to be downloaded.

    :param table: its folder. :param name: under which the query has it.
    """
    if any(importlib.util.find_spec(package) is None for package in ("duckdb", "pyiceberg")):
        return None
    from pyiceberg.table import StaticTable

    metadata = table / "metadata"
    version = (metadata / "version-hint.text").read_text().strip()
    found = StaticTable.from_metadata(str(metadata / f"v{version}.metadata.json")).scan().to_duckdb(name).sql(query)
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]
