"""Workers with internal topics of their own, for tests of the control plane: planes, clients, what starts runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.testclient import TestClient

from airflow_kconnect.control.overview.watch import _forget
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.control.stores import ControlStores
from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.rest.access import AccessPolicy, TokenPolicy
from airflow_kconnect.rest.app import create_app
from airflow_kconnect.rest.errors import RestError
from tests.support import unique


def control_worker(bootstrap: str, **more: str) -> dict[str, str]:
    """Keys of a worker with topics of its own."""
    name = unique("control")
    topics = {f"{store}.storage.topic": f"{name}-{store}" for store in ("config", "offset", "status")}
    return {**worker_config(bootstrap), **topics, "group.id": name, **more}


def write_worker(folder: Path, props: Mapping[str, str]) -> Path:
    """The same keys as a file for `--worker`."""
    path = folder / "worker.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in props.items()))
    return path


def api_client(plane: ControlPlane, access: AccessPolicy | None = None) -> TestClient:
    """A client of the REST API. :param access: by default all may do everything, without a token."""
    return TestClient(create_app(lambda: plane, access or TokenPolicy(None)), raise_server_exceptions=False)


@contextmanager
def control_plane(props: Mapping[str, str]) -> Iterator[ControlPlane]:
    """The control plane of a worker."""
    plane = ControlPlane(props, ControlStores(props))
    try:
        yield plane
    finally:
        plane.close()


@contextmanager
def plane_with_runs(plane: ControlPlane, runs: Any) -> Iterator[ControlPlane]:
    """The same control plane with something that starts runs, or remembers them. :param runs: see `ControlPlane`."""
    other = ControlPlane(plane.worker_props, plane._stores, runs)
    try:
        yield other
    finally:
        _forget(other)  # to close it would close the stores, which are not its own


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


@dataclass(frozen=True)
class Only:
    """A caller, and the policy that finds it, who may see and change some connectors, and see some DAGs."""

    reads: Collection[str] = ()
    writes: Collection[str] = ()
    dags: Collection[str] = ()

    def caller(self, request: Request) -> Only:
        """See `AccessPolicy`."""
        return self

    def readable(self, names: Iterable[str]) -> list[str]:
        """See `Caller`."""
        return [name for name in names if name in self.reads]

    def check_read(self, connector: str) -> None:
        """See `Caller`."""
        self._check(connector, self.reads)

    def check_write(self, connector: str) -> None:
        """See `Caller`."""
        self._check(connector, self.writes)

    def may_read_dag(self, dag: str | None) -> bool:
        """See `Caller`."""
        return dag in self.dags

    def may_edit_dag(self, dag: str | None) -> bool:
        """See `Caller`."""
        return False

    @staticmethod
    def _check(connector: str, allowed: Collection[str]) -> None:
        if connector not in allowed:
            raise RestError(403, f"{connector or 'everything'} is not yours")
