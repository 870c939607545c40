"""The workers of a run, as a run looks at them: the one next to it, and those on executors."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError
from airflow_kconnect.hosted.control import SILENCE_S, Line
from airflow_kconnect.hosted.jvm.gateway import HostGateway
from airflow_kconnect.hosted.jvm.threads import TaskThreads
from airflow_kconnect.hosted.worker import metrics
from airflow_kconnect.hosted.worker.herder import ConnectHerder
from airflow_kconnect.hosted.worker.metrics import Counts, MBeans

_STOP_EXTRA_S = 30.0


@dataclass(frozen=True)
class Seen:
    """What the tasks of a worker have done, and whether one of them is at work, see `threads`."""

    counts: Counts
    at_work: bool


class HostedWorker(Protocol):
    """A Connect worker that hosts tasks of the one connector of a run."""

    worker_id: str
    host: str

    def check(self) -> None:
        """:raises ConnectError: it has ended."""

    def seen(self) -> Seen:
        """What its tasks have done, and whether they are at work."""

    def counts(self) -> Counts:
        """What its tasks have done."""

    def read(self, pattern: str, *attributes: str) -> Mapping[str, Mapping[str, Any]]:
        """Its MBeans, see `metrics.Read`."""

    def pause(self) -> None:
        """Have its tasks deliver nothing new."""

    def tasks_problem(self) -> Sequence[str]:
        """Why Connect could not make the configurations of the tasks."""


class LocalWorker:
    """A worker in a JVM of this process.

    :param name: of the connector. :param kind: `source` or `sink`.
    :param host: the name of this machine, for texts.
    :param server: see `debezium.server`.
    """

    def __init__(
        self,
        jvm: HostGateway,
        herder: ConnectHerder,
        name: str,
        kind: str,
        *,
        worker_id: str,
        host: str,
        server: str,
    ) -> None:
        self._jvm, self._herder, self._name, self._kind = jvm, herder, name, kind
        self.worker_id, self.host = worker_id, host
        self.read = MBeans(jvm, name, server)
        self._threads = TaskThreads(jvm, name)
        self._before = Counts()

    def check(self) -> None:
        """:raises RetriableError: it has ended."""
        if not self._jvm.is_alive:
            raise self._jvm.ended("hosting the connector")
        if not self._herder.is_running:
            raise RetriableError(f"connector {self._name}: the Connect worker has ended by itself; its log says why")

    def seen(self) -> Seen:
        """What its tasks have done, and whether they are at work."""
        before, self._before = self._before, self.counts()
        # Threads are looked at in many calls, which would take processor time from a connector that moves records.
        return Seen(self._before, self._before != before or self._threads.busy())

    def counts(self) -> Counts:
        """What its tasks have done."""
        return metrics.counts(self.read, self._kind)

    def pause(self) -> None:
        """Have its tasks deliver nothing new."""
        self._herder.pause(self._name)

    def left(self) -> list[str]:
        """After the stop: the threads of its tasks that have not ended."""
        return self._threads.left()

    def tasks_problem(self) -> Sequence[str]:
        """Why Connect could not make the configurations of the tasks."""
        return self._jvm.log.tasks_problem(self._name)


class RemoteWorker:
    """A worker on an executor, asked over a line.

    :param host: the name of its machine.
    """

    def __init__(self, line: Line, *, worker_id: str, host: str) -> None:
        self._line = line
        self.worker_id, self.host = worker_id, host
        self.ready = False
        """Whether it can join the group."""
        self.error: ConnectError | None = None
        """Why it cannot be used any more."""
        self.stopped = False
        """Whether it was stopped: it ends by itself then."""
        self._problem: list[str] = []

    def prepare(self, timeout_s: float) -> None:
        """Have it start; the result is `ready` or `error`."""
        try:
            self._line.ask(timeout_s, do="prepare")
            self.ready = True
        except ConnectError as error:
            self.error = self._named(error)

    def beat(self) -> None:
        """Ask how it is; without that it would believe that the driver is gone. The result may be an `error`."""
        try:
            answer = self._line.ask_if_free(do="ping")
        except ConnectError as error:
            self.error = self.error or self._named(error)
            return
        if answer is not None:
            self._problem = answer

    def join(self) -> None:
        """Join the group: it may then get tasks."""
        self._ask(do="join")

    def stop(self, timeout_s: float) -> None:
        """Stop the worker, which then ends by itself."""
        self._ask(timeout_s + _STOP_EXTRA_S, do="stop", within_s=timeout_s)
        self.stopped = True

    def dismiss(self) -> None:
        """Tell it that it is not needed: its task ends without an error."""
        with contextlib.suppress(ConnectError):
            self._line.ask(do="leave")
        self.hang_up()

    def hang_up(self) -> None:
        """End it, if it has not ended."""
        self._line.close()

    def check(self) -> None:
        """:raises ConnectError: it has ended, or cannot be reached."""
        if self.error is not None:
            raise self.error

    def seen(self) -> Seen:
        """What its tasks have done, and whether they are at work."""
        found = self._ask(do="seen")
        return Seen(Counts(**found["counts"]), found["at_work"])

    def counts(self) -> Counts:
        """What its tasks have done."""
        return self.seen().counts

    def read(self, pattern: str, *attributes: str) -> Mapping[str, Mapping[str, Any]]:
        """Its MBeans: attributes that are numbers, texts or booleans."""
        found: dict[str, dict[str, Any]] = self._ask(do="read", pattern=pattern, attributes=list(attributes))
        return found

    def pause(self) -> None:
        """Have its tasks deliver nothing new."""
        self._ask(2 * SILENCE_S, do="pause")

    def tasks_problem(self) -> Sequence[str]:
        """Why Connect could not make the configurations of the tasks, as of the last beat."""
        return self._problem

    def _ask(self, timeout_s: float = SILENCE_S, **request: Any) -> Any:
        self.check()
        try:
            return self._line.ask(timeout_s, **request)
        except ConnectError as error:
            self.error = self._named(error)
            raise self.error from None

    def _named(self, error: ConnectError) -> ConnectError:
        if isinstance(error, ConfigError):
            told = {key: [f"on host {self.host}: {each}" for each in texts] for key, texts in error.errors.items()}
            return ConfigError(told, error.connector)
        return type(error)(f"the Connect worker on host {self.host}: {error}")


def answers(worker: LocalWorker, request: Mapping[str, Any]) -> Any:
    """What a worker on an executor answers to the requests of `RemoteWorker` that are about its tasks."""
    match request["do"]:
        case "ping":
            worker.check()
            return list(worker.tasks_problem())
        case "seen":
            return asdict(worker.seen())
        case "read":
            return _plain(worker.read(request["pattern"], *request["attributes"]))
        case "pause":
            worker.pause()
    return None


def _plain(beans: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        name: {key: value for key, value in attributes.items() if isinstance(value, int | float | str)}
        for name, attributes in beans.items()
    }
