"""Java plug-ins for tests: jars made by hand, and real ones from Maven Central."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

from airflow_kconnect.local.broker import KAFKA_VERSION
from airflow_kconnect.machine import ivy
from airflow_kconnect.machine.java import find_java

SOURCES = "META-INF/services/org.apache.kafka.connect.source.SourceConnector"
SINKS = "META-INF/services/org.apache.kafka.connect.sink.SinkConnector"
TRANSFORMATIONS = "META-INF/services/org.apache.kafka.connect.transforms.Transformation"
FILE_SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
CONNECT_FILE = f"org.apache.kafka:connect-file:{KAFKA_VERSION}"
DEBEZIUM = "io.debezium:debezium-connector-postgres:3.5.0.Final"
CONNECT_FILE_JAR = f"connect-file-{KAFKA_VERSION}.jar"


def write_jar(path: Path, files: Mapping[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    """A jar, or another ZIP file, with these files in it; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", compression) as jar:
        for file, content in files.items():
            jar.writestr(file, content)
    return path


def source_jar(path: Path, name: str = "a.Source") -> Path:
    """A jar that announces a source connector."""
    return write_jar(path, {SOURCES: name, f"{name.replace('.', '/')}.class": b""})


def connect_file_jars() -> Path:
    """A folder with Kafka's file connectors, and with the libraries that they need."""
    return ivy.resolve([CONNECT_FILE], java=find_java())


def cache_with_downloads(folder: Path) -> Path:
    """A cache folder in which nothing is installed, and which has the jars that were downloaded before."""
    jars = connect_file_jars().parent
    (folder / "jars").symlink_to(jars)
    return folder
