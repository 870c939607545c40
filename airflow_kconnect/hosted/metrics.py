"""Numbers that connectors and their tasks publish as MBeans, read from a JVM."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.hosted.jvm import HostJvm

Read = Callable[[str], Mapping[str, Mapping[str, Any]]]
"""From a pattern of MBean names to the attributes of each that matches."""


class MBeans:
    """Reads MBeans; call it with a pattern such as ``kafka.connect:type=source-task-metrics,*``."""

    def __init__(self, jvm: HostJvm) -> None:
        self._jvm = jvm
        self._server: Any = None

    def __call__(self, pattern: str) -> dict[str, dict[str, Any]]:
        """Attributes by MBean name. An attribute that cannot be read is left out."""
        return self._jvm.call("reading metrics", lambda: self._read(pattern))

    def _read(self, pattern: str) -> dict[str, dict[str, Any]]:
        view = self._jvm.view
        if self._server is None:
            self._server = view.java.lang.management.ManagementFactory.getPlatformMBeanServer()
        names = self._server.queryNames(view.javax.management.ObjectName(pattern), None)
        return {str(name.toString()): self._attributes(name) for name in names}

    def _attributes(self, name: Any) -> dict[str, Any]:
        """An MBean that has just been removed has none."""
        from py4j.protocol import Py4JJavaError

        try:
            infos = self._server.getMBeanInfo(name).getAttributes()
            wanted = self._jvm.array(self._jvm.view.java.lang.String, *(info.getName() for info in infos))
            return {item.getName(): item.getValue() for item in self._server.getAttributes(name, wanted).asList()}
        except Py4JJavaError:
            return {}


@dataclass(frozen=True)
class Counts:
    """What the tasks of a connector have done since they started.

    :param read: records that a source delivered, or a sink was given, before transformations.
    :param written: after them.
    :param active: of a source: delivered and not yet acknowledged by Kafka.
    :param skipped: bad ones that were tolerated.
    :param dead_lettered: of those, how many were written to the dead-letter topic.
    """

    read: int = 0
    written: int = 0
    active: int = 0
    skipped: int = 0
    dead_lettered: int = 0

    @property
    def filtered(self) -> int:
        """How many the transformations have dropped."""
        return max(0, self.read - self.written - self.active - self.skipped)


_SOURCE = {"read": "source-record-poll-total", "written": "source-record-write-total"}
_SINK = {"read": "sink-record-read-total", "written": "sink-record-send-total"}
_ERRORS = {"skipped": "total-records-skipped", "dead_lettered": "deadletterqueue-produce-requests"}


def counts(read: Read, kind: str) -> Counts:
    """The sums over all tasks.

    :param kind: `source` or `sink`.
    """
    tasks = read(f"kafka.connect:type={kind}-task-metrics,*").values()
    errors = read("kafka.connect:type=task-error-metrics,*").values()
    sums = {name: _sum(tasks, metric) for name, metric in (_SOURCE if kind == "source" else _SINK).items()}
    sums |= {name: _sum(errors, metric) for name, metric in _ERRORS.items()}
    active = _sum(tasks, "source-record-active-count") if kind == "source" else 0
    return Counts(active=active, **sums)


def _sum(beans: Any, attribute: str) -> int:
    numbers = (float(bean.get(attribute, 0) or 0) for bean in beans)
    return int(sum(number for number in numbers if math.isfinite(number)))
