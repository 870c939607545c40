"""Whether the tasks of a connector are at work right now, by what their threads do.

Silence alone does not say that a source has caught up: a task may compute, read from a socket, or wait for a processor
of a busy machine. Only one that waits (for a time, for a queue, for a selector) counts as idle.
"""

from __future__ import annotations

from typing import Any

from airflow_kconnect.hosted.jvm import HostJvm

_PREFIX = "task-thread-"
# Java calls a thread that waits in one of these runnable: a Kafka client polls like that.
_SELECTORS = ("sun.nio.ch.EPoll", "sun.nio.ch.KQueue", "sun.nio.ch.WEPoll")


class TaskThreads:
    """The threads of one connector's tasks in a JVM.

    :param connector: its name.
    """

    def __init__(self, jvm: HostJvm, connector: str) -> None:
        self._jvm, self._prefix = jvm, f"{_PREFIX}{connector}-"
        self._beans: Any = None

    def busy(self) -> bool:
        """Whether one of them is at work."""
        return self._jvm.call("looking at the threads of tasks", self._busy)

    def _busy(self) -> bool:
        if self._beans is None:
            self._beans = self._jvm.view.java.lang.management.ManagementFactory.getThreadMXBean()
        infos = (info for info in self._beans.getThreadInfo(self._beans.getAllThreadIds(), 1) if info is not None)
        return any(_is_busy(info) for info in infos if str(info.getThreadName()).startswith(self._prefix))


def _is_busy(info: Any) -> bool:
    if str(info.getThreadState()) != "RUNNABLE":
        return False
    stack = info.getStackTrace()
    return not len(stack) or not str(stack[0].getClassName()).startswith(_SELECTORS)
