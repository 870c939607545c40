"""A real Apache Kafka on this machine: a single node on the loopback address, for development and tests."""

from __future__ import annotations

import fcntl
import logging
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import psutil
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.local import daemon, ports
from airflow_kconnect.local.broker_files import DataFolder, Ports
from airflow_kconnect.local.server import QUICK_START, LocalServer, refuse_taken
from airflow_kconnect.machine import ivy
from airflow_kconnect.machine.errors import SetupError, disk_full, readable_os_errors
from airflow_kconnect.machine.java import find_java, java_environment

KAFKA_VERSION = "4.3.0"
# Kafka's own pom leaves out the slf4j bridge through which all its logging goes.
KAFKA = (f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}", "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4")
DEFAULT_PORT = 9092

_MIN_FREE_BYTES = 200_000_000


@dataclass(frozen=True)
class BrokerStatus:
    """What is known about a broker.

    :param state: `running`, `starting` (the process exists but does not answer yet) or `stopped`.
    :param bootstrap: `host:port` of the last start; None if it was never started.
    :param note: something the user should know, for example that it was already running.
    """

    state: str
    data: Path
    bootstrap: str | None = None
    sasl_bootstrap: str | None = None
    pid: int | None = None
    cluster_id: str | None = None
    version: str = KAFKA_VERSION
    note: str = ""

    @property
    def address(self) -> str | None:
        """Where clients connect to."""
        return self.bootstrap


class EmbeddedBroker(LocalServer):
    """A Kafka broker and controller in one process, which outlives this one until it is stopped.

    :param data_dir: its data folder; created if missing. Starting again with it continues with the same topics.
    :param port: port of the broker; None means that of the last start, or a free one.
    :param heap_mb: Java heap in MB.
    :param sasl_users: user -> password for a second listener with SASL_PLAINTEXT and the mechanism PLAIN.
    :param settings: additional broker settings, which override the defaults.
    :param progress: called with a line of text while Kafka is downloaded and started.
    """

    name: ClassVar[str] = "broker"

    def __init__(
        self,
        data_dir: Path | str,
        *,
        port: int | None = None,
        heap_mb: int = 512,
        sasl_users: Mapping[str, str] | None = None,
        settings: Mapping[str, str] | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(data_dir, port=port, heap_mb=heap_mb, progress=progress)
        self._folder = DataFolder(self._data)
        self._sasl_users = dict(sasl_users or {})
        self._settings = dict(settings or {})

    @property
    def bootstrap(self) -> str:
        """`host:port` for `bootstrap.servers`.

        :raises SetupError: the broker was never started.
        """
        return f"{ports.LOOPBACK}:{self._known_ports().broker}"

    @property
    def sasl_bootstrap(self) -> str:
        """`host:port` of the SASL_PLAINTEXT listener.

        :raises SetupError: the broker was never started, or was started without users.
        """
        port = self._known_ports().sasl
        if port is None:
            raise SetupError(f"The broker of {self._folder.path} has no SASL listener: start it with `sasl_users`.")
        return f"{ports.LOOPBACK}:{port}"

    @property
    def worker_properties(self) -> Path:
        """A worker file for `kconnect run --worker`, which points at this broker."""
        return self._folder.worker_properties

    def start(self, *, timeout_s: float = 120) -> BrokerStatus:
        """Start the broker and return once it answers; a broker that is already running is left as it is.

        :param timeout_s: how long to wait for the answer, in seconds; downloading Kafka does not count.
        :raises SetupError: no Java, a port is taken, the folder cannot be used, the broker died while starting.
        :raises RetriableError: no answer in time, the download failed, or the disk is full.
        """
        with readable_os_errors(self._folder.path):
            self._folder.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._locked():
                running = self._pid_file.process()
                return self._already_running() if running else self._start(timeout_s)

    def kill(self) -> None:
        """End the broker with SIGKILL, as a crash would; its data stays for the next start."""
        daemon.kill(self._running())
        self._pid_file.remove_if_stale()

    def pause(self) -> None:
        """Freeze the broker (SIGSTOP): it keeps its connections and answers nothing."""
        self._running().suspend()

    def resume(self) -> None:
        """Let a frozen broker continue (SIGCONT)."""
        self._running().resume()

    def status(self) -> BrokerStatus:
        """Whether the broker is running and answers, and where."""
        known = self._folder.ports()
        status = BrokerStatus("stopped", self._folder.path)
        if known is None:
            return status
        status = replace(status, bootstrap=self.bootstrap, sasl_bootstrap=self.sasl_bootstrap if known.sasl else None)
        running = self._pid_file.process()
        if running is None:
            return status
        cluster_id = _cluster_at(self.bootstrap)
        state = "running" if cluster_id == self._folder.cluster_id() else "starting"
        return replace(status, state=state, pid=running.pid, cluster_id=cluster_id)

    def _known_ports(self) -> Ports:
        known = self._folder.ports()
        if known is None:
            raise SetupError(f"No broker was ever started in {self._folder.path}: start it first.")
        return known

    def _running(self) -> psutil.Process:
        running = self._pid_file.process()
        if running is None:
            raise SetupError(f"The broker of {self._folder.path} is not running.")
        return running

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._folder.lock.open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _already_running(self) -> BrokerStatus:
        note = self._runs_already(self._known_ports().broker)
        return replace(self.status(), note=note)

    def _start(self, timeout_s: float) -> BrokerStatus:
        stale = self._pid_file.remove_if_stale()
        cluster_id = self._folder.cluster_id()
        chosen = self._choose_ports()
        if shutil.disk_usage(self._folder.path).free < _MIN_FREE_BYTES:
            raise disk_full(self._folder.path)
        java = find_java()
        jars = ivy.resolve(KAFKA, java=java, progress=self._progress)
        self._folder.write(chosen, self._sasl_users, self._settings)
        command = [str(java.path), *QUICK_START, f"-Dlog4j2.configurationFile={self._folder.log4j2}"]
        command += ["-cp", f"{jars}/*"]
        self._progress("Starting Kafka")
        if not self._folder.is_formatted:
            self._format(command, cluster_id)
        command[1:1] = [f"-Xmx{self._heap_mb}m"]
        command += ["kafka.Kafka", str(self._folder.server_properties)]
        self._launch(command, java_environment(), timeout_s)
        note = "The broker was not shut down cleanly the last time." if stale else ""
        return replace(self.status(), note=note)

    def _choose_ports(self) -> Ports:
        last = self._folder.ports()
        port = self._port or (last.broker if last else ports.free_port())
        refuse_taken(port)
        sasl = None
        if self._sasl_users:
            sasl = last.sasl if last and last.sasl and not ports.is_taken(last.sasl) else ports.free_port()
        return Ports(port, ports.free_port(), sasl)

    def _format(self, java: list[str], cluster_id: str) -> None:
        arguments = ["format", "--cluster-id", cluster_id, "--config", str(self._folder.server_properties)]
        formatted = subprocess.run(
            [*java, "kafka.tools.StorageTool", *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            cwd=self._folder.path,
            env=java_environment(),
            check=False,
        )
        if formatted.returncode != 0:
            self.log.write_text(formatted.stdout + formatted.stderr)
            raise self._died(formatted.returncode)

    def _address(self) -> str:
        return self.bootstrap

    def _answers(self) -> bool:
        return _cluster_at(self.bootstrap) == self._folder.cluster_id()

    def _died(self, exit_code: int) -> SetupError | RetriableError:
        tail = daemon.last_errors(self.log)
        if "No space left on device" in tail:
            return disk_full(self._folder.path)
        return SetupError(f"The broker ended at its start with exit code {exit_code}. From {self.log}:\n{tail}")


def _cluster_at(bootstrap: str) -> str | None:
    """The id of the cluster that answers at an address; None if none does."""
    if not ports.is_open(int(bootstrap.rpartition(":")[2])):
        return None
    silent = logging.Logger("silent", logging.CRITICAL + 1)
    try:
        admin = AdminClient({"bootstrap.servers": bootstrap}, logger=silent)
        return str(admin.list_topics(timeout=2).cluster_id)
    except KafkaException:
        return None
