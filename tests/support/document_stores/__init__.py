"""Servers that keep documents, each in a JVM of its own: a node of OpenSearch, and MongoDB's protocol over memory."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import httpx
import pymongo

from airflow_kconnect.local.ports import LOOPBACK, free_port
from airflow_kconnect.machine.java import find_java
from tests.support.databases.servers import Owner, end, wait_until_up
from tests.support.jars import jars

_OPENSEARCH = (
    "org.opensearch:opensearch:2.19.3",
    "org.opensearch.plugin:transport-netty4-client:2.19.3",
    "org.apache.logging.log4j:log4j-core:2.21.0",
)
_MONGO = ("de.bwaldvogel:mongo-java-server:1.47.0",)
_OPTIONS = ("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


class OpenSearch:
    """Use `remove` when it is not needed any more. :param folder: for its data and its log."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        self.url, home, log = f"http://{LOOPBACK}:{port}", folder / "home", folder / "opensearch.log"
        for name in ("config", "modules", "plugins"):
            (home / name).mkdir(parents=True)
        self._process = _started("OpenSearchServer", _OPENSEARCH, log, str(home), str(port), str(free_port()))
        wait_until_up(self._process, log, lambda: httpx.get(f"{self.url}/_cluster/health").raise_for_status())

    def remove(self) -> None:
        end(self._process, signal.SIGTERM)


class DocumentServer:
    """The same, for MongoDB's protocol."""

    def __init__(self, folder: Path) -> None:
        port, log = free_port(), folder / "documents.log"
        self.uri = f"mongodb://{LOOPBACK}:{port}"
        self._process = _started("DocumentServer", _MONGO, log, str(port))
        self.client: pymongo.MongoClient[dict[str, object]] = pymongo.MongoClient(self.uri)
        wait_until_up(self._process, log, lambda: self.client.admin.command("ping"))

    def remove(self) -> None:
        self.client.close()
        end(self._process, signal.SIGTERM)


def _started(source: str, coordinates: tuple[str, ...], log: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """A Java program of this folder, which Java compiles when it starts it."""
    java = find_java()
    path = f"{jars(*coordinates)}/*"
    command: list[str | Path] = [
        java.path,
        *_OPTIONS,
        "-cp",
        path,
        Path(__file__).with_name(f"{source}.java"),
        *arguments,
    ]
    return Owner(None).spawn(command, log, signal.SIGTERM)
