"""A real schema registry on this machine (Apicurio, with Confluent's REST API), for development and tests."""

from __future__ import annotations

import json
import shutil
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from airflow_kconnect.local import daemon, ports
from airflow_kconnect.local.server import QUICK_START, LocalServer, refuse_taken
from airflow_kconnect.machine import ivy
from airflow_kconnect.machine.errors import SetupError, readable_os_errors
from airflow_kconnect.machine.java import find_java, java_environment

REGISTRY_VERSION = "3.0.9"  # the last one that runs on Java 17
REGISTRY = f"io.apicurio:apicurio-registry-app:tar.gz:all:{REGISTRY_VERSION}"
DEFAULT_PORT = 8081

_API = "/apis/ccompat/v7"


@dataclass(frozen=True)
class RegistryStatus:
    """What is known about a registry.

    :param state: `running`, `starting` (the process exists but does not answer yet) or `stopped`.
    :param url: for `schema.registry.url`; None if it was never started.
    """

    state: str
    data: Path
    url: str | None = None
    pid: int | None = None
    version: str = REGISTRY_VERSION
    note: str = ""

    @property
    def address(self) -> str | None:
        """Where clients connect to."""
        return self.url


class LocalRegistry(LocalServer):
    """A schema registry in a process of its own, which outlives this one until it is stopped.

    :param data_dir: its data folder; created if missing. Starting again with it continues with the same schemas.
    :param port: its port on the loopback address; None means that of the last start, or a free one.
    :param heap_mb: Java heap in MB.
    :param progress: called with a line of text while it is downloaded and started.
    """

    name: ClassVar[str] = "registry"
    _poll_s: ClassVar[float] = 0.1

    def __init__(
        self,
        data_dir: Path | str,
        *,
        port: int | None = None,
        heap_mb: int = 400,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(data_dir, port=port, heap_mb=heap_mb, progress=progress)
        self._port_file = self._data / "port"

    @property
    def url(self) -> str | None:
        """For `schema.registry.url`; None if it was never started."""
        port = self._last_port()
        return None if port is None else f"http://{ports.LOOPBACK}:{port}{_API}"

    def start(self, *, timeout_s: float = 120) -> RegistryStatus:
        """Start the registry and return once it answers; one that is already running is left as it is.

        :param timeout_s: how long to wait for the answer, in seconds; the download does not count.
        :raises SetupError: no Java, the port is taken, the folder cannot be used, the registry died while starting.
        :raises RetriableError: no answer in time, the download failed, or the disk is full.
        """
        with readable_os_errors(self._data):
            self._data.mkdir(parents=True, exist_ok=True, mode=0o700)
            if self._pid_file.process() is not None:
                note = self._runs_already(self._last_port())
                return replace(self.status(), note=note)
            self._start(timeout_s)
        return self.status()

    def status(self) -> RegistryStatus:
        """Whether the registry is running and answers, and where."""
        url, running = self.url, self._pid_file.process()
        if url is None or running is None:
            return RegistryStatus("stopped", self._data, url)
        return RegistryStatus("running" if _answers(url) else "starting", self._data, url, running.pid)

    def _last_port(self) -> int | None:
        with suppress(OSError, ValueError):
            return int(self._port_file.read_text())
        return None

    def _start(self, timeout_s: float) -> None:
        self._pid_file.remove_if_stale()
        port = self._port or self._last_port() or ports.free_port()
        refuse_taken(port)
        java = find_java()
        program = unpacked(ivy.resolve([REGISTRY], java=java, progress=self._progress), self._progress)
        self._progress("Starting the schema registry")
        self._port_file.write_text(str(port))
        environment = {
            **java_environment(),
            "QUARKUS_HTTP_HOST": ports.LOOPBACK,
            "QUARKUS_HTTP_PORT": str(port),
            "APICURIO_DATASOURCE_URL": f"jdbc:h2:file:{self._data / 'schemas'}",
            "QUARKUS_HTTP_ACCESS_LOG_ENABLED": "false",
        }
        command = [str(java.path), f"-Xmx{self._heap_mb}m", *QUICK_START, "-jar", str(program)]
        self._launch(command, environment, timeout_s)

    def _address(self) -> str:
        return str(self.url)

    def _answers(self) -> bool:
        return _answers(str(self.url))

    def _died(self, exit_code: int) -> SetupError:
        return SetupError(f"The registry ended at its start. From {self.log}:\n{daemon.last_errors(self.log)}")


def unpacked(folder: Path, progress: Callable[[str], None]) -> Path:
    """The program in a downloaded archive, unpacked next to it; a folder that exists is complete."""
    [archive] = folder.glob("*.tar.gz")
    target = folder / "unpacked"
    if not target.is_dir():
        progress("Unpacking the schema registry")
        part = Path(tempfile.mkdtemp(prefix="unpacking-", dir=folder))
        try:
            with tarfile.open(archive) as tar:
                tar.extractall(part, filter="data")
            with suppress(OSError):  # another process was faster
                part.rename(target)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    [program] = target.glob("*-runner.jar")
    return program


def _answers(url: str) -> bool:
    try:
        # Proxies of the environment do not lead to this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{url}/subjects", timeout=2) as response:
            return isinstance(json.load(response), list)
    except (OSError, ValueError, urllib.error.URLError):
        return False
