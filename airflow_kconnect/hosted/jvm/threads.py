"""Whether the tasks of a connector are at work right now, by what their threads do.

Silence alone does not say that a source has caught up: a task may compute, read from a socket, wait for a processor of
a busy machine, or still be starting its producer. Only one that was asked for records and waits for them (for a time, a
queue, a selector) counts as idle.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import Any

from airflow_kconnect.hosted.jvm.gateway import HostGateway

_TASK = "task-thread-"
_CONNECTOR = "connector-thread-"
# Tasks may be added or replaced while a connector runs.
_REMEMBERED_S = 2.0
# Java calls a thread that waits in one of these runnable: a Kafka client polls like that.
_SELECTORS = ("sun.nio.ch.EPoll", "sun.nio.ch.KQueue", "sun.nio.ch.WEPoll")
# Where Connect asks a source's class for records, and where it waits for records for a sink.
_ASKING = ("AbstractWorkerSourceTask.poll(", "WorkerSinkTask.pollConsumer(")
_DEPTH = 64


class TaskThreads:
    """The threads of one connector's tasks in a JVM.

    :param connector: its name.
    """

    def __init__(self, jvm: HostGateway, connector: str) -> None:
        self._jvm = jvm
        self._is_task, self._is_own = task_threads(connector).fullmatch, own_threads(connector).fullmatch
        self._beans: Any = None
        self._ids: list[int] = []
        self._known_s = 0.0

    def busy(self) -> bool:
        """Whether one of them is at work."""
        return self._jvm.call("looking at the threads of tasks", self._busy)

    def left(self) -> list[str]:
        """Names of those that are there, and of the connector's own: after the end of the worker they are in methods
        of the plug-in that do not return.
        """
        return self._jvm.call("looking at threads", lambda: [name for _, name in self._all() if self._is_own(name)])

    def _busy(self) -> bool:
        if time.monotonic() - self._known_s > _REMEMBERED_S:
            self._ids, self._known_s = self._find(), time.monotonic()
        infos = (self._threads.getThreadInfo(one, _DEPTH) for one in self._ids)
        return any(_is_busy(info) for info in infos if info is not None)

    @property
    def _threads(self) -> Any:
        if self._beans is None:
            self._beans = self._jvm.view.java.lang.management.ManagementFactory.getThreadMXBean()
        return self._beans

    def _find(self) -> list[int]:
        return [one for one, name in self._all() if self._is_task(name)]

    def _all(self) -> list[tuple[int, str]]:
        """Ids and names."""
        infos = self._threads.getThreadInfo(self._threads.getAllThreadIds())
        return [(int(info.getThreadId()), str(info.getThreadName())) for info in infos if info is not None]


def task_threads(connector: str) -> re.Pattern[str]:
    """The names of its tasks' threads. Another connector in the JVM may have a name that begins with its name."""
    return re.compile(rf"{_TASK}{re.escape(connector)}-\d+")


def own_threads(connector: str) -> re.Pattern[str]:
    """The names of its own thread and those of its tasks."""
    return re.compile(rf"{_CONNECTOR}{re.escape(connector)}|{task_threads(connector).pattern}")


def _is_busy(info: Any) -> bool:
    # Each frame costs a round trip: they are asked for as far as they are needed.
    return works(str(info.getThreadState()), (str(frame.toString()) for frame in info.getStackTrace()))


def works(state: str, frames: Iterable[str]) -> bool:
    """Whether a task's thread is at work.

    :param state: Java's, such as `WAITING`. :param frames: its stack, the innermost frame first.
    """
    stack = iter(frames)
    innermost = next(stack, "")
    if state == "RUNNABLE" and not innermost.rpartition("/")[2].startswith(_SELECTORS):
        return True
    return not any(method in frame for frame in stack for method in _ASKING)
