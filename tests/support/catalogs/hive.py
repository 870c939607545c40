"""Hive's metastore, as Spark brings it, in a JVM of its own with a database in memory."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path
from xml.sax.saxutils import escape

from airflow_kconnect.local.ports import LOOPBACK, free_port
from airflow_kconnect.machine.java import find_java
from airflow_kconnect.machine.spark_home import spark_home
from tests.support.databases.servers import Owner, end, wait_until_up

_OPTIONS = (
    *("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
    *("--add-opens=java.base/java.net=ALL-UNNAMED", "--add-opens=java.base/java.lang=ALL-UNNAMED"),
)


class HiveMetastore:
    """Listens without passwords, and has no tables for locks. Use `remove` when it is not needed any more.

    :param folder: for its configuration, its log and its warehouse.
    :raises RuntimeError: it does not start.
    """

    def __init__(self, folder: Path) -> None:
        home, port = spark_home(), free_port()
        assert home is not None
        self.uri, self.warehouse = f"thrift://{LOOPBACK}:{port}", folder / "warehouse"
        (folder / "hive-site.xml").write_text(_site({
            "javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
            "datanucleus.schema.autoCreateAll": "true",
            "datanucleus.connectionPoolingType": "none",  # Spark does not have the pool that is the default
            "hive.metastore.schema.verification": "false",
            "hive.metastore.warehouse.dir": str(self.warehouse),
            "hive.metastore.server.min.threads": "4",
            "hive.async.log.enabled": "false",  # Spark does not have what it needs
        }))  # fmt: skip
        log = folder / "metastore.log"
        command: list[str | Path] = [
            *(find_java().path, *_OPTIONS, f"-Dderby.stream.error.file={folder}/derby.log", f"-Dhive.log.dir={folder}"),
            *("-cp", f"{folder}:{home}/jars/*", "org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(port)),
        ]
        self._process: subprocess.Popen[bytes] = Owner(None).spawn(command, log, signal.SIGTERM)
        wait_until_up(self._process, log, lambda: socket.create_connection((LOOPBACK, port), 5).close())

    def remove(self) -> None:
        """End it."""
        end(self._process, signal.SIGTERM)


def _site(settings: dict[str, str]) -> str:
    entries = (
        f"<property><name>{name}</name><value>{escape(text)}</value></property>" for name, text in settings.items()
    )
    return f"<configuration>{''.join(entries)}</configuration>\n"
