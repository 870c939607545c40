"""Numbers that connectors and their tasks publish as MBeans, read from a JVM."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.hosted.jvm.gateway import HostGateway

Read = Callable[..., Mapping[str, Mapping[str, Any]]]
"""From a pattern of MBean names to the attributes of each that matches; further arguments name the attributes that are
wanted, all without them.
"""


class MBeans:
    """Reads MBeans of one connector; call it with a pattern such as
    ``kafka.connect:type=source-task-metrics,connector={connector},*``: there may be others in the JVM.

    :param connector: its name, for `{connector}` in patterns.
    :param server: for `{server}`, see `debezium.server`.
    """

    def __init__(self, jvm: HostGateway, connector: str, server: str) -> None:
        self._jvm, self._connector, self._name = jvm, connector, ""
        self._of_server = server
        self._server: Any = None

    def __call__(self, pattern: str, *attributes: str) -> dict[str, dict[str, Any]]:
        """Attributes by MBean name. An attribute that cannot be read is left out.

        :param attributes: those that are wanted; none means all, which takes longer.
        """
        return self._jvm.call("reading metrics", lambda: self._read(pattern, attributes))

    def _read(self, pattern: str, wanted: Sequence[str]) -> dict[str, dict[str, Any]]:
        view = self._jvm.view
        if self._server is None:
            self._server = view.java.lang.management.ManagementFactory.getPlatformMBeanServer()
            self._name = view.org.apache.kafka.common.utils.Sanitizer.jmxSanitize(self._connector)
        own = pattern.format(connector=self._name, server=self._of_server)
        names = self._server.queryNames(view.javax.management.ObjectName(own), None)
        return {str(name.toString()): self._attributes(name, wanted) for name in self._jvm.items(names)}

    def _attributes(self, name: Any, wanted: Sequence[str]) -> dict[str, Any]:
        """An MBean that has just been removed has none."""
        from py4j.protocol import Py4JJavaError

        try:
            if wanted:
                return {attribute: self._server.getAttribute(name, attribute) for attribute in wanted}
            infos = self._server.getMBeanInfo(name).getAttributes()
            names = self._jvm.array(self._jvm.view.java.lang.String, *(info.getName() for info in infos))
            attributes = self._server.getAttributes(name, names).asList()
            return {item.getName(): item.getValue() for item in self._jvm.items(attributes)}
        except Py4JJavaError:
            return {}


@dataclass(frozen=True)
class Counts:
    """What the tasks of a connector have done since they started.

    :param read: records that a source delivered, or a sink was given, before transformations.
    :param written: after them.
    :param active: of a source: delivered and not yet acknowledged by Kafka. Of a sink, in the end: given to its class,
        which has not returned.
    :param skipped: bad ones that were tolerated.
    :param dead_lettered: bad ones that were written to the dead-letter topic.
    :param failures: how often something failed with a record; also those that a sink itself reports as bad, which
        Connect does not count as skipped.
    """

    read: int = 0
    written: int = 0
    active: int = 0
    skipped: int = 0
    dead_lettered: int = 0
    failures: int = 0

    @property
    def filtered(self) -> int:
        """How many the transformations have dropped."""
        return max(0, self.read - self.written - self.active - self.skipped)


_OWN = "connector={connector}"
_SOURCE = {
    "read": "source-record-poll-total",
    "written": "source-record-write-total",
    "active": "source-record-active-count",
}
_SINK = {"read": "sink-record-read-total", "written": "sink-record-send-total"}
_ERRORS = {
    "skipped": "total-records-skipped",
    "dead_lettered": "deadletterqueue-produce-requests",
    "failures": "total-record-failures",
}


def counts(read: Read, kind: str) -> Counts:
    """The sums over all tasks.

    :param kind: `source` or `sink`.
    """
    own = _SOURCE if kind == "source" else _SINK
    tasks = read(f"kafka.connect:type={kind}-task-metrics,{_OWN},*", *own.values()).values()
    errors = read(f"kafka.connect:type=task-error-metrics,{_OWN},*", *_ERRORS.values()).values()
    sums = {name: _sum(tasks, metric) for name, metric in own.items()}
    return Counts(**sums, **{name: _sum(errors, metric) for name, metric in _ERRORS.items()})


def _sum(beans: Any, attribute: str) -> int:
    numbers = (float(bean.get(attribute, 0) or 0) for bean in beans)
    return int(sum(number for number in numbers if math.isfinite(number)))
