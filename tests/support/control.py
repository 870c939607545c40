"""Workers with internal topics of their own, for tests of the control plane, and what registers connectors in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.control.stores import ControlStores
from airflow_kconnect.local.broker_files import worker_config
from tests.support import unique


def control_worker(bootstrap: str, **more: str) -> dict[str, str]:
    """Keys of a worker with topics of its own."""
    name = unique("control")
    topics = {f"{store}.storage.topic": f"{name}-{store}" for store in ("config", "offset", "status")}
    return {**worker_config(bootstrap), **topics, "group.id": name, **more}


@contextmanager
def control_plane(props: Mapping[str, str]) -> Iterator[ControlPlane]:
    """The control plane of a worker."""
    plane = ControlPlane(props, ControlStores(props))
    try:
        yield plane
    finally:
        plane.close()


def register(props: Mapping[str, str], **configs: Mapping[str, Any]) -> None:
    """Register connectors, or replace their configurations."""
    with control_plane(props) as plane:
        for name, config in configs.items():
            plane.put_config(name, config)


class StartedRuns:
    """Remembers which runs a control plane has started."""

    def __init__(self) -> None:
        self.replays: list[tuple[str, dict[str, Any]]] = []

    def start(self, connector: str) -> None:
        """Not used here."""

    def end(self, connector: str) -> None:
        """Not used here."""

    def replay(self, connector: str, params: Mapping[str, Any]) -> str:
        """Remembered."""
        self.replays.append((connector, dict(params)))
        return "manual__1"
