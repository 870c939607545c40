"""A real HDFS for tests: a name node and a data node, in a JVM of their own."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from airflow_kconnect.local.ports import LOOPBACK, free_port
from airflow_kconnect.machine.java import find_java
from tests.support.databases.servers import Owner, end, wait_until_up
from tests.support.jars import jars

_COORDINATES = ("org.apache.hadoop:hadoop-client-minicluster:3.4.2", "javax.xml.bind:jaxb-api:2.3.1")
_OPTIONS = (
    *("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--add-opens=java.base/java.lang=ALL-UNNAMED"),
)
_SETTINGS = {
    "dfs.ls.limit": "3",  # so that all lists have pages
    "dfs.permissions.superusergroup": "empty-group",
}


class HdfsServer:
    """Who runs it may do all. Use `remove` when it is not needed any more.

    :param folder: for its data and its log.
    :raises RuntimeError: it does not start.
    """

    def __init__(self, folder: Path) -> None:
        port, http_port = free_port(), free_port()
        self.address, self.url = f"hdfs://{LOOPBACK}:{port}", f"http://{LOOPBACK}:{http_port}"
        java, log, started = find_java(), folder / "hdfs.log", folder / "started.json"
        command: list[str | Path] = [
            *(java.path, *_OPTIONS, f"-Dtest.build.data={folder}", f"-Dhadoop.log.dir={folder}"),
            *("-cp", f"{jars(*_COORDINATES)}/*", "org.apache.hadoop.test.MiniDFSClusterManager"),
            *("-format", "-datanodes", "1", "-nnport", str(port), "-httpport", str(http_port)),
            *("-writeDetails", started),
            *(each for name, text in _SETTINGS.items() for each in ("-D", f"{name}={text}")),
        ]
        self._process: subprocess.Popen[bytes] = Owner(None).spawn(command, log, signal.SIGTERM)
        wait_until_up(self._process, log, started.read_bytes)

    def remove(self) -> None:
        """End it."""
        end(self._process, signal.SIGTERM)
