"""A Connect worker on an executor: what a Spark task does from its start until the driver needs it no longer."""

from __future__ import annotations

import logging
import re
import socket
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, ConnectError, InternalError, RetriableError, in_one_line
from airflow_kconnect.hosted.control import Address, Call
from airflow_kconnect.hosted.installing.provision import plugin_path
from airflow_kconnect.hosted.jvm import libraries
from airflow_kconnect.hosted.jvm.jvm import HostJvm
from airflow_kconnect.hosted.jvm.own_classes import own_jar
from airflow_kconnect.hosted.known import debezium
from airflow_kconnect.hosted.worker.herder import ConnectHerder, Listening
from airflow_kconnect.hosted.worker.run_secrets import lent
from airflow_kconnect.hosted.worker.run_tokens import tokens_for
from airflow_kconnect.hosted.worker.workers import LocalWorker, answers
from airflow_kconnect.hosting.inspection import hosted_class
from airflow_kconnect.machine.java import find_java
from airflow_kconnect.plugins.java import JavaPlugin
from airflow_kconnect.runtime.java_connector.plugins import provide_plugins
from airflow_kconnect.worker_config.keys import WorkerConfig

_LAST_REQUESTS = frozenset({"stop", "leave"})
# Shorter values of secrets are also parts of words.
_SHORTEST_HIDDEN = 4


@dataclass(frozen=True)
class HostTask:
    """What an executor must know to host a worker. Spark hands it over, with the secrets in it.

    :param address: of the driver.
    :param worker_id: of the run; each worker appends its number.
    :param props: the connector's configuration, all variables resolved.
    :param worker: keys of the worker, resolved.
    :param properties: Connect's worker properties, without those about plug-ins.
    :param secrets: those that the connector's configuration refers to, by their names.
    :param memory: heap.
    :param version: of the plug-in that the driver has.
    """

    address: Address
    worker_id: str
    name: str
    kind: str
    props: Mapping[str, str] = field(repr=False)
    worker: Mapping[str, str] = field(repr=False)
    properties: Mapping[str, str] = field(repr=False)
    secrets: Mapping[str, str] = field(repr=False)
    memory: str
    version: str | None


def host(task: HostTask, index: int, nothing: Iterable[int]) -> Iterator[int]:
    """The function of the Spark task: a worker in a JVM of its own, until the driver says stop, or is gone.

    :param index: of the task. :param nothing: the rows of its partition.
    :raises RetriableError: the driver cannot be reached.
    """
    use_log_without(task.secrets.values())
    call = Call(task.address)
    try:
        call.say(index=index, host=socket.gethostname())
        with _Host(task, index, call) as hosting:
            call.requests(hosting.answer, until=_LAST_REQUESTS)
            hosting.finish()
    finally:
        call.close()
    yield from ()


class _Host:
    """The JVM and the worker in it, started by the request `prepare`."""

    def __init__(self, task: HostTask, index: int, call: Call) -> None:
        self._task, self._call = task, call
        self._id = f"{task.worker_id}/{index + 1}"
        self._stack = ExitStack()
        self._jvm: HostJvm | None = None
        self._herder: ConnectHerder | None = None
        self._worker: LocalWorker | None = None
        self._stopped = self._driver_gone = False

    def __enter__(self) -> _Host:
        self._call.when_lost(self._end)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def answer(self, request: Mapping[str, Any]) -> Any:
        """The answer to a request of the driver.

        :raises ConnectError: what it asked for is not possible.
        """
        try:
            return self._answer(request)
        except ConnectError:
            raise
        except Exception as error:
            logging.getLogger("kconnect.hosted").exception("unexpected error")
            raise InternalError(in_one_line(error)) from error

    def _answer(self, request: Mapping[str, Any]) -> Any:
        do = request["do"]
        if do == "prepare":
            self._prepare()
        elif do == "leave" or self._herder is None or self._worker is None:
            return None
        elif do == "join":
            self._herder.start()
        elif do == "stop":
            self._herder.stop(float(request["within_s"]))
            self._stopped = True
        else:
            return answers(self._worker, request)
        return None

    def finish(self) -> None:
        """End the JVM."""
        if self._jvm is not None and self._stopped:
            self._jvm.finish()

    def _prepare(self) -> None:
        task = self._task
        worker = WorkerConfig.from_props(task.worker)
        provide_plugins(task.props, worker)
        plugin = plugin_of(task, worker)
        java = find_java()
        jars = libraries.class_path(java, progress=_progress, several=True)
        folder = self._stack.enter_context(
            tempfile.TemporaryDirectory(prefix="kconnect-host-", dir=_folder(), ignore_cleanup_errors=True)
        )
        jars.append(own_jar(java, jars, Path(folder), _progress))
        self._jvm = HostJvm(java, jars, Path(folder), memory=task.memory)
        self._stack.enter_context(self._jvm)
        if self._driver_gone:
            self._jvm.kill()
            raise RetriableError("the driver is gone")
        self._stack.enter_context(lent(self._jvm, task.secrets))
        self._stack.enter_context(tokens_for(self._jvm, task.worker))
        properties = {**task.properties, **plugin_path(plugin, task.props, worker).properties(Path(folder))}
        own = self._call.own_address
        self._herder = ConnectHerder(self._jvm, properties, worker_id=self._id, listening=Listening(own, own))
        self._worker = LocalWorker(
            self._jvm,
            self._herder,
            task.name,
            task.kind,
            worker_id=self._id,
            host=socket.gethostname(),
            server=debezium.server(task.props),
        )

    def _end(self) -> None:
        """The driver is gone, whatever is under way here."""
        self._driver_gone = True
        if self._jvm is not None:
            self._jvm.kill()


def plugin_of(task: HostTask, worker: WorkerConfig) -> JavaPlugin:
    """The connector's class on this machine.

    :raises ConfigError: this machine does not have the plug-in that the driver has.
    """
    found = hosted_class(task.props, worker)
    name = task.props["connector.class"]
    if found is None:
        text = (
            f"no plug-in below `plugin.path` has {name}. Executors need the folders of plug-ins as well: put them on"
            " each machine, or name the plug-in by `kconnect.plugin.coordinates`"
        )
        raise ConfigError({"connector.class": [text]}, task.name)
    if found.version != task.version:
        text = f"{name} has version {found.version} there, and {task.version} next to the driver: install the same"
        raise ConfigError({"connector.class": [text]}, task.name)
    return found


def _folder() -> str | None:
    """A folder that Spark removes with the application."""
    from pyspark import SparkFiles

    folder = Path(SparkFiles.getRootDirectory())
    return str(folder) if folder.is_dir() else None


def _progress(text: str) -> None:
    logging.getLogger("kconnect.hosted").info("%s", text)


class _Hiding(logging.Formatter):
    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        texts = sorted({text for text in secrets if len(text) >= _SHORTEST_HIDDEN}, key=len, reverse=True)
        self._secret = re.compile("|".join(map(re.escape, texts))) if texts else None

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        return self._secret.sub("***", text) if self._secret else text


def use_log_without(secrets: Iterable[str]) -> None:
    """Log to the executor's error output. A Python worker of Spark has no handlers, and may serve several tasks."""
    log = logging.getLogger("kconnect.hosted")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Hiding(secrets))
    log.handlers[:], log.propagate = [handler], False
    log.setLevel(logging.INFO)
