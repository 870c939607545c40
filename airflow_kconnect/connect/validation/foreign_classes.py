"""Advice about classes that are not installed: the closest installed names, and alternatives to well-known others."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches

_KEEP = "keep it on a Connect cluster"
_TABLE: tuple[tuple[str, str], ...] = (
    (
        r"io\.debezium\.connector\..*",
        f"Debezium's connectors do not run here: {_KEEP}, and run the sinks of its topics here "
        "(io.debezium.transforms.ExtractNewRecordState unwraps its events). JdbcSource reads the same tables, "
        "but sees no deletes",
    ),
    (
        r"(com\.amazonaws\..*|io\.apicurio\..*)\..*Converter|.*\bAWS\w*AvroConverter",
        "this registry's own converters are not supported: io.confluent.connect.avro.AvroConverter reads and writes "
        "Avro with registries that speak Confluent's REST API, as Apicurio does",
    ),
    (
        r"org\.apache\.kafka\.connect\.mirror\..*|io\.confluent\.connect\.replicator\..*",
        "replication between clusters does not run here: run connect-mirror-maker next to the brokers",
    ),
    (
        r".*(S3|Gcs|GCS|Azure\w*|Hdfs\d?|HDFS|Adls\w*|DataLake\w*)(Sink|Source)(Connector)?"
        r"|io\.confluent\.connect\.(s3|gcs|azure|hdfs\d?)\..*",
        f"object stores and HDFS are not supported yet: {_KEEP}, or write files with DirectorySink to a folder that "
        "all machines of Spark see",
    ),
    (
        r".*(Elasticsearch|OpenSearch|Opensearch|Mongo|Cassandra|Redis|Neo4j|InfluxDB|Influx|Couchbase)\w*"
        r"(Sink|Source)?(Connector)?",
        f"this system is not supported: {_KEEP}, or write a connector in Python (docs/writing-connectors.md)",
    ),
    (
        r".*(Snowflake|BigQuery|Redshift|Databricks|ClickHouse|Clickhouse|Vertica|Iceberg|DeltaLake|Delta|Hudi)\w*",
        f"warehouses and table formats are not supported yet: {_KEEP}, or write Parquet files with DirectorySink, and "
        "load them in a next task. JdbcSink writes to PostgreSQL, MySQL, MariaDB, SQLite, DuckDB, and by a "
        "JDBC driver to others",
    ),
    (
        r".*(SpoolDir|FilePulse|FsSource|Sftp|SFTP|Ftp)\w*",
        "this file connector is not supported: FileStreamSource reads lines of files, folders and patterns; else "
        f"{_KEEP}",
    ),
    (
        r".*(Datagen|Mock)\w*(Source|Sink)?(Connector)?",
        "this one is not supported: VerifiableSource makes records for tests, VerifiableSink checks them",
    ),
    (
        r"io\.confluent\.connect\.transforms\..*|com\.github\.jcustenborder\..*\.transform\..*"
        r"|io\.aiven\.kafka\.connect\.transforms\..*|io\.debezium\.transforms\..*",
        "this transformation is not supported: airflow_kconnect.transforms.SQL computes, renames and filters fields "
        "with SQL expressions, and replaces most of these",
    ),
)
_JAVA = "Java classes are not loaded here, only installed Python plugins: `kconnect plugins` lists them"
_MOST = 3


def advice(name: str, known: Collection[str], elsewhere: str | None = None) -> str:
    """Advice to append to the text that a class was not found: a sentence that begins with a space, or empty.

    :param name: as the user wrote it.
    :param known: full names of the installed plugins of this kind.
    :param elsewhere: what the class is if it is an installed plugin of another kind, such as `a transformation`.
    """
    if elsewhere is not None:
        return f" It is {elsewhere}."
    if foreign := next((text for pattern, text in _TABLE if re.fullmatch(pattern, name)), None):
        return f" Not supported here: {foreign}."
    if similar := closest(name, known):
        return f" Did you mean {' or '.join(similar)}?"
    return f" {_JAVA}." if re.fullmatch(r"(\w+\.){2,}[\w$]+", name) else ""


def closest(name: str, known: Collection[str]) -> list[str]:
    """Full names similar to a name, the most similar first; packages and letter case are ignored."""
    simple = _simple(name)
    by_simple: dict[str, list[str]] = {}
    for full in sorted(known):
        by_simple.setdefault(_simple(full), []).append(full)
    # Cast stands for Cast$Key and Cast$Value.
    similar = [key for key in by_simple if simple and key.startswith(f"{simple}$")]
    similar = similar or get_close_matches(simple, by_simple, n=_MOST, cutoff=0.75)
    return [full for key in similar for full in by_simple[key]][:_MOST]


def _simple(name: str) -> str:
    """`org.apache...FileStreamSourceConnector` -> `filestreamsource`."""
    simple = name.rpartition(".")[2].lower()
    return re.sub(r"(?<=.)(connector|converter|transformation|predicate)$", "", simple)
