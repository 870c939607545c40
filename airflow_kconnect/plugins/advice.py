"""Advice about classes that are not installed: how to get a Java connector, the closest names, alternatives."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches

from airflow_kconnect.plugins.java.well_known import how_to_install

# What else could be done, for those who would rather have no Java.
_INSTEAD: tuple[tuple[str, str], ...] = (
    (r"io\.debezium\.connector\.(?!mongodb|spanner).*", "JdbcSource reads the same tables, but sees no deletes"),
    (
        r".*(S3|Gcs|GCS|Azure\w*|Hdfs\d?|HDFS|Adls\w*|DataLake\w*)(Sink|Source)(Connector)?",
        "DirectorySink writes files into folders and stores; S3Sink, GcsSink and AzureBlobStorageSink have the keys of "
        "Confluent's sinks",
    ),
    (
        r".*(Snowflake|BigQuery|Redshift|Databricks|ClickHouse|Clickhouse|Vertica|Hudi)\w*",
        "DirectorySink writes Parquet files, which a later task can load",
    ),
    (r".*(Iceberg|DeltaLake|Delta)\w*", "SparkTableSink writes tables of Iceberg and Delta Lake"),
    (
        r".*(SpoolDir|FilePulse|FsSource|Sftp|SFTP|Ftp)\w*",
        "FilesSource reads CSV, JSON, Avro, Parquet, ORC and lines from files in folders and stores",
    ),
    (r".*Http\w*(Sink|Source)(Connector)?", "HttpSink sends records to HTTP servers, HttpSource reads REST APIs"),
    (r".*(Datagen|Mock)\w*(Source|Sink)?(Connector)?", "VerifiableSource generates records for tests"),
)
# Converters and transformations of connectors that are not hosted.
_TABLE: tuple[tuple[str, str], ...] = (
    (
        r"io\.apicurio\..*Converter",
        "this registry's own converters are not supported: io.confluent.connect.avro.AvroConverter reads and writes "
        "Avro with registries that speak Confluent's REST API, as Apicurio does",
    ),
    (
        r"io\.confluent\.connect\.transforms\..*|com\.github\.jcustenborder\..*\.transform\..*"
        r"|io\.aiven\.kafka\.connect\.transforms\..*|io\.debezium\.transforms\..*",
        "this transformation is not supported: airflow_kconnect.transforms.SQL computes, renames and filters fields "
        "with SQL expressions, and replaces most of these",
    ),
)
_NO_PLUGIN = (
    "No Java plug-in below `plugin.path` has it: `kconnect plugins` lists what is installed, and `kconnect plugins "
    "install` installs Maven coordinates or an archive of its vendor"
)
_ONLY_HOSTED = "Java converters, transformations and predicates run only with a Java connector"
_LOOKS_JAVA = re.compile(r"(\w+\.){2,}[\w$]+")
_OTHER_KINDS = re.compile(r"Converter$|\.transforms?\.|\.predicates?\.|\$(Key|Value)$")
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
        return f" Not supported here: {foreign}. {_ONLY_HOSTED}."
    instead = next((text for pattern, text in _INSTEAD if re.fullmatch(pattern, name)), None)
    if install := how_to_install(name):
        return f" {install}." + (f" Without Java: {instead}." if instead else "")
    if similar := closest(name, known):
        return f" Did you mean {' or '.join(similar)}?"
    if name.startswith("airflow_kconnect."):
        return " This version of airflow_kconnect has no such class, or its entry point is not installed."
    if not _LOOKS_JAVA.fullmatch(name):
        return ""
    if _OTHER_KINDS.search(name):
        return f" {_ONLY_HOSTED}."
    return f" {_NO_PLUGIN}." + (f" Without Java: {instead}." if instead else "")


def closest(name: str, known: Collection[str]) -> list[str]:
    """Full names similar to a name, the most similar first; packages and letter case are ignored, unless the name is
    nearly a full one.
    """
    simple = _simple(name)
    by_simple: dict[str, list[str]] = {}
    for full in sorted(known):
        by_simple.setdefault(_simple(full), []).append(full)
    # Cast stands for Cast$Key and Cast$Value.
    similar = [key for key in by_simple if simple and key.startswith(f"{simple}$")]
    by_full = {full.lower(): full for full in known}
    if not similar and (typo := get_close_matches(name.lower(), by_full, n=1, cutoff=0.95)):
        return [by_full[typo[0]]]
    similar = similar or get_close_matches(simple, by_simple, n=_MOST, cutoff=0.75)
    return [full for key in similar for full in by_simple[key]][:_MOST]


def _simple(name: str) -> str:
    """`org.apache...FileStreamSourceConnector` -> `filestreamsource`; the same for `FileStreamSourceConector`."""
    simple = name.rpartition(".")[2].lower()
    return re.sub(r"(?<=.)(con+ect[eo]r|converter|transformation|predicate)s?$", "", simple)
