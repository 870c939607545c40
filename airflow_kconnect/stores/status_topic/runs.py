"""The statuses of a run, for tools that watch Kafka Connect: see docs/decisions/0021."""

from __future__ import annotations

import socket
import time
import traceback
from collections.abc import Callable, Iterable

from airflow_kconnect.connect.errors import ConfigError, ConnectError, FencedError
from airflow_kconnect.stores.status_topic.records import (
    ConnectorKey,
    State,
    Status,
    StatusKey,
    TaskKey,
    TopicKey,
    TopicStatus,
    cut_off,
)
from airflow_kconnect.stores.status_topic.writing import LIMIT_S, StatusWriter
from airflow_kconnect.worker_config.keys import WorkerConfig

# There is no worker group whose generations could be counted. No worker of Connect is refused a safe write by it.
_GENERATION = 0
_TASK = 0


class RunStatuses:
    """The statuses of a connector's run.

    :param writer: writes them; None creates one.
    :param worker: variables resolved. :param version: of the connector's class (KIP-891); None if it is not known.
    :param hide: replaces secrets in traces; called in the thread that writes them.
    :param limit_s: how long `close` waits for the broker, in seconds.
    """

    def __init__(
        self,
        worker: WorkerConfig,
        name: str,
        version: str | None,
        *,
        hide: Callable[[str], str] = str,
        limit_s: float = LIMIT_S,
        writer: StatusWriter | None = None,
    ) -> None:
        self._worker, self._name, self._version = worker, name, version
        self._hide = hide
        self._writer = writer or StatusWriter(worker, name, limit_s)
        self._keys: tuple[StatusKey, ...] = (ConnectorKey(name), TaskKey(name, _TASK))
        self._worker_id = f"{socket.gethostname()}:0"
        self._began = False

    def running(self) -> None:
        """The run begins."""
        self._began = True
        self._do(lambda: self._put(State.RUNNING))

    def paused(self) -> None:
        """The connector is paused."""
        self._do(lambda: self._put(State.PAUSED))

    def stopped(self) -> None:
        """The connector is stopped: it has no tasks."""
        self._do(self._put_stopped)

    def used(self, topics: Iterable[str], offset_topic: str | None = None) -> None:
        """The run has written to these topics, or has read records from them.

        :param offset_topic: of a source; its id is noted, so that a later run can detect that it is another one.
        """
        names = list(topics)
        if names and self._worker.get("topic.tracking.enable"):
            self._do(lambda: self._put_topics(names, offset_topic))

    def failed(self, error: BaseException | str) -> None:
        """The run has failed.

        A configuration with which nothing could begin is a failure of the connector, everything else one of its task.
        A run that was fenced says nothing: the status is that of its successor.
        """
        if isinstance(error, FencedError):
            return
        of_connector = isinstance(error, ConfigError) and not self._began
        self._do(lambda: self._put_failed(bounded_trace(error, self._hide), of_connector=of_connector))

    def close(self) -> None:
        """Wait until everything is written, for a limited time."""
        self._writer.close()

    def _do(self, what: Callable[[], None]) -> None:
        self._writer.do(what)

    def _put(self, state: State) -> None:
        for key in self._keys:
            self._send(key, state)

    def _put_stopped(self) -> None:
        connector, task = self._keys
        self._send(connector, State.STOPPED)
        self._send(task, State.DESTROYED)

    def _put_failed(self, trace: str, *, of_connector: bool) -> None:
        self._writer.flush()
        connector, task = self._keys
        for key in (connector, task) if of_connector else (task,):
            if self._writer.is_last(key.encode()):
                self._send(key, State.FAILED, trace)

    def _put_topics(self, names: list[str], offset_topic: str | None) -> None:
        now_ms = int(time.time() * 1000)
        described = self._writer.admin.described([offset_topic] if offset_topic else [])
        offset_topic_id = next((topic.id for topic in described.values()), None)
        for topic in names:
            status = TopicStatus(topic, self._name, _TASK, now_ms, offset_topic_id)
            self._writer.produce(TopicKey(self._name, topic).encode(), status.encode())

    def _send(self, key: StatusKey, state: State, trace: str | None = None) -> None:
        # As in Connect, where it is not written of a task that no longer exists.
        version = None if state is State.DESTROYED else self._version
        self._writer.produce(key.encode(), Status(state, self._worker_id, _GENERATION, trace, version).encode())


def bounded_trace(error: BaseException | str, hide: Callable[[str], str] = str) -> str:
    """The text of an error as a trace: Java's begins with the name of the class, too.

    The lines of code are added for errors other than `ConnectError`: they may be bugs.
    """
    if isinstance(error, str):
        text = error
    elif isinstance(error, ConnectError):
        text = f"{type(error).__module__}.{type(error).__qualname__}: {error}"
    else:
        text = "".join(traceback.format_exception(error))
    return cut_off(hide(text))
