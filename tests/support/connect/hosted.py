"""Java connectors for tests: folders of plug-ins made of Kafka's own connectors."""

from __future__ import annotations

import time
from pathlib import Path

import psutil

from airflow_kconnect.hosted.jvm.libraries import CONNECT_VERSION
from tests.support.jars import jars
from tests.support.spark.jobs import Job, command_of

FILE = f"org.apache.kafka:connect-file:{CONNECT_VERSION}"
TEST_PLUGINS = f"org.apache.kafka:connect-test-plugins:{CONNECT_VERSION}"


def plugin_folder(folder: Path, *coordinates: str) -> Path:
    """A folder for `plugin.path` with one plug-in for each of the coordinates: only its own jar."""
    for coordinate in coordinates:
        _, artifact, version = coordinate.split(":")
        jar = jars(coordinate) / f"{artifact}-{version}.jar"
        plugin = folder / artifact
        plugin.mkdir(parents=True, exist_ok=True)
        if not (plugin / jar.name).exists():
            (plugin / jar.name).symlink_to(jar)
    return folder


def hosted_jvms(job: Job) -> list[psutil.Process]:
    """The JVM of a job's Connect worker; it may take a moment to appear."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if found := [process for process in job.tree() if "py4j.GatewayServer" in command_of(process)]:
            return found
    return []
