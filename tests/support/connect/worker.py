"""A real Kafka Connect worker on this machine, for comparisons and for moving connectors to and from it."""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.local import daemon, ports
from airflow_kconnect.local.broker import KAFKA_VERSION
from airflow_kconnect.local.broker_files import LOG4J2, properties_text, worker_config
from airflow_kconnect.local.server import QUICK_START
from airflow_kconnect.machine import ivy
from airflow_kconnect.machine.errors import SetupError, readable_os_errors
from airflow_kconnect.machine.java import find_java
from tests.support.connect.rest import ConnectRest
from tests.support.jars import jars as jars_of

# Another version than the broker's, to compare with: see docs/compatibility.md.
CONNECT_VERSION = os.environ.get("KCONNECT_TEST_CONNECT", KAFKA_VERSION)
CONNECT = (
    *(f"org.apache.kafka:connect-{part}:{CONNECT_VERSION}" for part in ("runtime", "json", "transforms")),
    *(f"org.apache.kafka:connect-{part}:{KAFKA_VERSION}" for part in ("file", "test-plugins")),
    "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4",
)

_PLUGINS = "connect-file-*.jar"
_QUICK = {
    "offset.flush.interval.ms": "1000",
    "plugin.discovery": "service_load",
    "scheduled.rebalance.max.delay.ms": "0",
}
# Connect's default of 3 fails with a single broker.
_ONE_BROKER = {f"{store}.storage.replication.factor": "-1" for store in ("offset", "config", "status")}
_log = logging.getLogger(__name__)


class ConnectWorker(ConnectRest):
    """One distributed worker (`ConnectDistributed`), which belongs to this process. Use it as a context manager.

    :param work_dir: folder for its files and its log; created if missing.
    :param bootstrap: the broker, `host:port`.
    :param group_id: the worker group. Transactional ids of tasks are `<group_id>-<connector>-<task>`.
    :param offset_topic: where source offsets are stored; may be shared with our own runs.
    :param config_topic: where connector configs are stored.
    :param status_topic: where states are stored.
    :param exactly_once: whether `exactly.once.source.support` is enabled.
    :param rest_port: port of its REST API; None means a free one.
    :param heap_mb: Java heap in MB.
    :param java_options: additional options for the JVM; by default those for a quick start.
    :param plugins: Maven coordinates of additional connectors; each has its own class loader.
    :param settings: additional worker settings, which override ours.
    :param progress: called with a line of text while Kafka Connect is downloaded and started.
    """

    def __init__(
        self,
        work_dir: Path | str,
        *,
        bootstrap: str,
        group_id: str = "connect-cluster",
        offset_topic: str = "connect-offsets",
        config_topic: str = "connect-configs",
        status_topic: str = "connect-status",
        exactly_once: bool = True,
        rest_port: int | None = None,
        heap_mb: int = 512,
        java_options: Sequence[str] = QUICK_START,
        plugins: Sequence[str] = (),
        settings: Mapping[str, str] | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self._folder = Path(work_dir).expanduser().absolute()
        port = rest_port or ports.free_port()
        super().__init__(f"http://{ports.LOOPBACK}:{port}")
        self._java_options = [f"-Xmx{heap_mb}m", *java_options]
        self._plugins = tuple(plugins)
        self._progress = progress or _log.info
        self._process: psutil.Popen | None = None
        self.properties: dict[str, str] = {
            **worker_config(bootstrap),
            **_ONE_BROKER,
            **_QUICK,
            "group.id": group_id,
            "offset.storage.topic": offset_topic,
            "config.storage.topic": config_topic,
            "status.storage.topic": status_topic,
            "exactly.once.source.support": "enabled" if exactly_once else "disabled",
            "listeners": f"HTTP://{ports.LOOPBACK}:{port}",
            "plugin.path": str(self._plugin_path),
            **(settings or {}),
        }

    @classmethod
    def of_group(cls, work_dir: Path | str, bootstrap: str, group: str, **more: Any) -> ConnectWorker:
        """A worker of a group whose topics have its name, unless `more` names others."""
        topics = {f"{store}_topic": f"{group}-{store}s" for store in ("offset", "config")}
        topics["status_topic"] = f"{group}-status"
        return cls(work_dir, bootstrap=bootstrap, group_id=group, **{**topics, **more})

    def __enter__(self) -> ConnectWorker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def _plugin_path(self) -> Path:
        return self._folder / "plugins"

    @property
    def log(self) -> Path:
        """The worker's log file."""
        return self._folder / "connect.log"

    @property
    def pid(self) -> int:
        """The process id of the worker.

        :raises SetupError: it is not running.
        """
        if self._process is None:
            raise SetupError("The Connect worker does not run: start it first.")
        return int(self._process.pid)

    def start(self, *, timeout_s: float = 120) -> None:
        """Start the worker and return once it has joined its group and answers.

        :param timeout_s: how long to wait, in seconds; downloading Kafka Connect does not count.
        :raises SetupError: no Java, a folder cannot be used, or the worker died while starting.
        :raises RetriableError: no answer in time, or the download failed.
        """
        if self._process is not None:
            return
        java = find_java()
        jars = ivy.resolve(CONNECT, java=java, progress=self._progress)
        with readable_os_errors(self._folder):
            log4j2, config = self._write_files(jars)
            for plugin in self._plugins:
                self._add_plugin(jars_of(plugin), jars)
        command = [str(java.path), *self._java_options, f"-Dlog4j2.configurationFile={log4j2}"]
        command += ["-cp", _class_path(jars), "org.apache.kafka.connect.cli.ConnectDistributed", str(config)]
        self._progress("Starting Kafka Connect")
        self._process = daemon.spawn(command, cwd=self._folder, log=self.log)
        try:
            self._wait_for_answer(time.monotonic() + timeout_s)
        except BaseException:
            self.kill()
            raise

    def stop(self, *, timeout_s: float = 30) -> None:
        """Stop the worker gracefully, or by force after `timeout_s` seconds."""
        if self._process is not None:
            daemon.end(self._process, timeout_s=timeout_s)
            self._process = None

    def kill(self) -> None:
        """End the worker with SIGKILL, as a crash would."""
        if self._process is not None:
            daemon.kill(self._process)
            self._process = None

    def _write_files(self, jars: Path) -> tuple[Path, Path]:
        _link(jars.glob(_PLUGINS), self._plugin_path)
        log4j2, config = self._folder / "log4j2.properties", self._folder / "worker.properties"
        log4j2.write_text(LOG4J2)
        config.touch(mode=0o600)
        config.write_text(properties_text(self.properties))
        return log4j2, config

    def _add_plugin(self, plugin: Path, connect: Path) -> None:
        """Like the archives in which connectors are distributed: without the libraries that Connect has itself."""
        provided = {_artifact(jar) for jar in connect.glob("*.jar")}
        _link((jar for jar in plugin.glob("*.jar") if _artifact(jar) not in provided), self._plugin_path / plugin.name)

    def _wait_for_answer(self, deadline_s: float) -> None:
        while not self.is_healthy():
            assert self._process is not None
            if self._process.poll() is not None:
                raise SetupError(
                    f"The Connect worker ended at its start with exit code {self._process.returncode}. "
                    f"From {self.log}:\n{daemon.last_errors(self.log)}"
                )
            if time.monotonic() > deadline_s:
                raise RetriableError(f"The Connect worker did not answer at {self.url} in time: see {self.log}.")
            time.sleep(0.1)


def _class_path(jars: Path) -> str:
    plugins = set(jars.glob(_PLUGINS))
    return ":".join(str(jar) for jar in sorted(jars.glob("*.jar")) if jar not in plugins)


def _artifact(jar: Path) -> str:
    """The name of a jar without its version."""
    return re.sub(r"-\d.*", "", jar.stem)


def _link(jars: Iterable[Path], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for jar in jars:
        if not (folder / jar.name).exists():
            (folder / jar.name).symlink_to(jar)
