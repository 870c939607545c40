"""Azure's store for tests: Azurite, by Node, with a container."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import hmac
import shutil
import signal
import socket
import subprocess
import urllib.request
from datetime import datetime
from email.utils import formatdate
from pathlib import Path
from urllib.parse import urlencode

import pytest

from airflow_kconnect.local.ports import LOOPBACK, free_port
from airflow_kconnect.machine.cache import cache_folder
from tests.support import unique
from tests.support.databases.servers import Owner, end, wait_until_up

_VERSION = "3.35.0"
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""Of the account that Azurite has; known to all."""


class AzureServer:
    """A server with its blobs in memory. Use `remove` when it is not needed any more.

    :param folder: for its log. :raises RuntimeError: it does not start.
    """

    def __init__(self, folder: Path) -> None:
        node, script, log = _node("node"), _installed(), folder / "azurite.log"
        self._port = free_port()
        self.url = f"http://{LOOPBACK}:{self._port}/{ACCOUNT}"
        options = ["--inMemoryPersistence", "--silent", "--disableTelemetry", "--skipApiVersionCheck"]
        command: list[str | Path] = [node, script, "--blobHost", LOOPBACK, "--blobPort", str(self._port), *options]
        self._process: subprocess.Popen[bytes] = Owner(None).spawn(command, log, signal.SIGTERM)
        wait_until_up(self._process, log, self._answers)

    def create_container(self) -> str:
        """A new container; its name."""
        name, date, version = unique("container").replace("_", "-"), formatdate(usegmt=True), "2021-08-06"
        text = (
            f"PUT{chr(10) * 12}x-ms-date:{date}\nx-ms-version:{version}\n/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
        )
        headers = {
            "x-ms-date": date,
            "x-ms-version": version,
            "Authorization": f"SharedKey {ACCOUNT}:{_signed(text)}",
        }
        url = f"{self.url}/{name}?restype=container"
        urllib.request.urlopen(urllib.request.Request(url, method="PUT", headers=headers), timeout=30).close()
        return name

    def remove(self) -> None:
        """End it."""
        end(self._process, signal.SIGTERM)

    def _answers(self) -> None:
        socket.create_connection((LOOPBACK, self._port), timeout=5).close()


def shared_access_signature(container: str, rights: str, until: datetime) -> str:
    """For a container. :param rights: letters in Azure's order, of `racwdl`."""
    end, version, protocols = until.strftime("%Y-%m-%dT%H:%M:%SZ"), "2020-12-06", "https,http"
    resource = f"/blob/{ACCOUNT}/{container}"
    text = "\n".join((rights, "", end, resource, "", "", protocols, version, "c", *[""] * 7))
    signed = {"sp": rights, "se": end, "spr": protocols, "sv": version, "sr": "c", "sig": _signed(text)}
    return urlencode(signed)


def _signed(text: str) -> str:
    return base64.b64encode(hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()).decode()


def _node(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"Azurite needs Node, and this machine has no `{program}`")
    return found


def _installed() -> Path:
    folder = cache_folder() / f"azurite-{_VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "node_modules/azurite/dist/src/blob/main.js"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            options = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder)]
            Owner(None).run([_node("npm"), "install", *options, f"azurite@{_VERSION}"])
            (folder / "complete").touch()
    return script
