"""Java plug-ins for tests: jars made by hand, some of them compiled, and real ones from Maven Central."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path

from airflow_kconnect.hosted.jvm.libraries import class_path
from airflow_kconnect.local.broker import KAFKA_VERSION
from airflow_kconnect.machine.java import find_java, java_environment
from tests.support.jars import jars

SOURCES = "META-INF/services/org.apache.kafka.connect.source.SourceConnector"
SINKS = "META-INF/services/org.apache.kafka.connect.sink.SinkConnector"
TRANSFORMATIONS = "META-INF/services/org.apache.kafka.connect.transforms.Transformation"
CONFIG_PROVIDERS = "META-INF/services/org.apache.kafka.common.config.provider.ConfigProvider"
FILE_SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
CONNECT_FILE = f"org.apache.kafka:connect-file:{KAFKA_VERSION}"
DEBEZIUM = "io.debezium:debezium-connector-postgres:3.5.0.Final"
CONNECT_FILE_JAR = f"connect-file-{KAFKA_VERSION}.jar"
_JAVA = Path(__file__).with_name("java") / "kconnect"


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


def compiled_plugin(folder: Path, name: str, services: Mapping[str, str]) -> Path:
    """A folder for `plugin.path` with a plug-in of the Java sources in `tests/support/java/kconnect/<name>`.

    :param folder: empty.
    :param services: file in the jar -> the class that it names.
    """
    classes, jar = folder / "classes", folder / "plugins" / name / f"{name}-1.0.jar"
    java = find_java()
    libraries = ":".join(map(str, class_path(java)))
    files = sorted(map(str, (_JAVA / name).glob("*.java")))
    javac = java.path.resolve().with_name("javac")
    subprocess.run(
        [str(javac), "-J-XX:TieredStopAtLevel=1", "-proc:none", "-d", str(classes), "-cp", libraries, *files],
        check=True,
        env=java_environment(),
    )
    compiled = {str(file.relative_to(classes)): file.read_bytes() for file in sorted(classes.rglob("*.class"))}
    write_jar(jar, {**compiled, **{file: f"{named}\n" for file, named in services.items()}})
    return folder / "plugins"


def connect_file_jars() -> Path:
    """A folder with Kafka's file connectors, and with the libraries that they need."""
    return jars(CONNECT_FILE)


def cache_with_downloads(folder: Path) -> Path:
    """A cache folder in which nothing is installed, and which has the jars that were downloaded before."""
    jars = connect_file_jars().parent
    (folder / "jars").symlink_to(jars)
    return folder
