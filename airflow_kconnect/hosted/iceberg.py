"""Apache Iceberg's sink commits to its tables later than to its consumer group: how a run knows that it has.

Its tasks write data files and commit, in one transaction, what they have read and an event in a control topic. Its
coordinator, in one of the tasks, commits the files to the tables now and then; only then does it commit, in a group of
its own, how far it has read the control topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_PACKAGES = ("org.apache.iceberg.connect.", "io.tabular.iceberg.connect.")


@dataclass(frozen=True)
class Control:
    """What else a sink must have committed.

    :param group: of the coordinator.
    :param topic: what it reads.
    """

    group: str
    topic: str


def control(connector_class: str, props: Mapping[str, str]) -> Control | None:
    """The control topic of Iceberg's sink; None for other classes."""
    if not connector_class.startswith(_PACKAGES):
        return None
    group = props.get("iceberg.connect.group-id") or f"connect-{props['name']}"
    return Control(f"{group}-coord", props.get("iceberg.control.topic") or "control-iceberg")
