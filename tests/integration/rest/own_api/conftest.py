"""The API on a control plane that no other test uses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.control.stores import ControlStores
from airflow_kconnect.rest.access import TokenPolicy
from airflow_kconnect.rest.app import create_app
from tests.support.control import control_worker


@pytest.fixture
def control_props(bootstrap: str) -> dict[str, str]:
    """Keys of a worker with topics of its own, for each test."""
    return control_worker(bootstrap)


@pytest.fixture
def plane(control_props: dict[str, str]) -> Iterator[ControlPlane]:
    """The control plane of these topics, as a server has it."""
    control = ControlPlane(control_props, ControlStores(control_props))
    yield control
    control.close()


@pytest.fixture
def client(plane: ControlPlane) -> TestClient:
    """A client of the API, without a token."""
    return TestClient(create_app(lambda: plane, TokenPolicy(None)), raise_server_exceptions=False)
