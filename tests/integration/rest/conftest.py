"""The REST API on a control plane of its own topics, for the tests of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from starlette.testclient import TestClient

from airflow_kconnect.control.overview.watch import watch_of
from airflow_kconnect.control.plane import ControlPlane
from tests.support.control import api_client, control_plane, control_worker
from tests.support.registered import Registered, WorkerTopics


@pytest.fixture(scope="module")
def control_props(bootstrap: str) -> dict[str, str]:
    """Keys of a worker with topics of its own."""
    return control_worker(bootstrap)


@pytest.fixture(scope="module")
def plane(control_props: dict[str, str]) -> Iterator[ControlPlane]:
    """The control plane of these topics, as a server has it."""
    with control_plane(control_props) as control:
        yield control


@pytest.fixture(scope="module")
def client(plane: ControlPlane) -> TestClient:
    """A client of the API, without a token."""
    return api_client(plane)


@pytest.fixture(scope="module")
def topics(bootstrap: str, control_props: dict[str, str]) -> WorkerTopics:
    """The topics of the server."""
    return WorkerTopics(bootstrap, control_props)


@pytest.fixture(scope="module")
def add(topics: WorkerTopics, plane: ControlPlane) -> Callable[..., None]:
    """Adds connectors as runs and users have left them. The server knows them then."""

    def write(*connectors: Registered) -> None:
        topics.add(*connectors)
        watch_of(plane).refresh()

    return write
