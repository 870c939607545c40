"""Whether the tasks of a connector are at work right now, by what their threads do.

Silence alone does not say that a source has caught up: a task may compute, read from a socket, or wait for a processor
of a busy machine. Only one that waits (for a time, for a queue, for a selector) counts as idle.
"""

from __future__ import annotations

import time
from typing import Any

from airflow_kconnect.hosted.jvm import HostJvm

_PREFIX = "task-thread-"
# Tasks may be added or replaced while a connector runs.
_REMEMBERED_S = 2.0
# Java calls a thread that waits in one of these runnable: a Kafka client polls like that.
_SELECTORS = ("sun.nio.ch.EPoll", "sun.nio.ch.KQueue", "sun.nio.ch.WEPoll")


class TaskThreads:
    """The threads of one connector's tasks in a JVM.

    :param connector: its name.
    """

    def __init__(self, jvm: HostJvm, connector: str) -> None:
        self._jvm, self._prefix = jvm, f"{_PREFIX}{connector}-"
        self._beans: Any = None
        self._ids: list[int] = []
        self._known_s = 0.0

    def busy(self) -> bool:
        """Whether one of them is at work."""
        return self._jvm.call("looking at the threads of tasks", self._busy)

    def _busy(self) -> bool:
        if self._beans is None:
            self._beans = self._jvm.view.java.lang.management.ManagementFactory.getThreadMXBean()
        if time.monotonic() - self._known_s > _REMEMBERED_S:
            self._ids, self._known_s = self._find(), time.monotonic()
        infos = (self._beans.getThreadInfo(one, 1) for one in self._ids)
        return any(_is_busy(info) for info in infos if info is not None)

    def _find(self) -> list[int]:
        infos = self._beans.getThreadInfo(self._beans.getAllThreadIds())
        return [
            int(info.getThreadId())
            for info in infos
            if info is not None and str(info.getThreadName()).startswith(self._prefix)
        ]


def _is_busy(info: Any) -> bool:
    if str(info.getThreadState()) != "RUNNABLE":
        return False
    stack = info.getStackTrace()
    return not len(stack) or not str(stack[0].getClassName()).startswith(_SELECTORS)
