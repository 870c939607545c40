"""The jars of Kafka Connect's runtime, from the cache or downloaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from airflow_kconnect.machine import ivy
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.machine.java import Java
from airflow_kconnect.machine.spark_home import spark_home

CONNECT_VERSION = "4.3.0"
# Kafka's own poms leave out the slf4j bridge through which all its logging goes.
CONNECT = (
    *(f"org.apache.kafka:connect-{part}:{CONNECT_VERSION}" for part in ("runtime", "json", "transforms")),
    "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4",
)
# Has the REST server with which the workers of one group talk, and with nothing else in it.
SEVERAL_WORKERS = (*CONNECT, f"org.apache.kafka:connect-mirror:{CONNECT_VERSION}")


def class_path(java: Java, progress: Callable[[str], None] | None = None, *, several: bool = False) -> list[Path]:
    """What the JVM of a Connect worker needs, in the order of the class path.

    :param java: runs the download.
    :param progress: called with a line of text while jars are downloaded.
    :param several: it is one of several workers of a group.
    :raises SetupError: Spark's jars, which have the bridge between Python and Java, were not found.
    :raises RetriableError: a download failed.
    """
    wanted = SEVERAL_WORKERS if several else CONNECT
    return [bridge(), *sorted(ivy.resolve(wanted, java=java, progress=progress).glob("*.jar"))]


def bridge() -> Path:
    """The jar through which a JVM is controlled; it is among Spark's.

    :raises SetupError: it was not found.
    """
    home = spark_home()
    jars = sorted((home / "jars").glob("py4j-*.jar")) if home is not None else []
    if not jars:
        raise SetupError(
            f"No py4j-*.jar was found in Spark's jars ({home}): Java connectors are controlled through it. Install"
            " PySpark, or set SPARK_HOME to a whole Spark."
        )
    return jars[-1]
