"""Nessie's server, in a JVM of its own, with what it knows in memory."""

from __future__ import annotations

import signal
import subprocess
import urllib.request
from pathlib import Path

from airflow_kconnect.local.ports import LOOPBACK, free_port
from airflow_kconnect.machine.java import find_java
from tests.support.databases.servers import Owner, end, wait_until_up
from tests.support.jars import jars

# The last one that Java 17 runs.
_COORDINATES = "org.projectnessie.nessie:nessie-quarkus:jar:runner:0.60.1"
_OPTIONS = ("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


class NessieServer:
    """Asks for no login. Use `remove` when it is not needed any more.

    :param folder: for its log.
    :raises RuntimeError: it does not start.
    """

    def __init__(self, folder: Path) -> None:
        port, java, log = free_port(), find_java(), folder / "nessie.log"
        self.uri = f"http://{LOOPBACK}:{port}/api/v2"
        [jar] = jars(_COORDINATES).glob("*.jar")
        command: list[str | Path] = [
            *(java.path, *_OPTIONS, f"-Dquarkus.http.host={LOOPBACK}", f"-Dquarkus.http.port={port}"),
            *("-Dnessie.version.store.type=IN_MEMORY", "-jar", jar),
        ]
        self._process: subprocess.Popen[bytes] = Owner(None).spawn(command, log, signal.SIGTERM)
        wait_until_up(self._process, log, lambda: urllib.request.urlopen(f"{self.uri}/config", timeout=5).close())

    def remove(self) -> None:
        """End it."""
        end(self._process, signal.SIGTERM)
