"""The REST API on a control plane of its own topics."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.control.stores import ControlStores
from airflow_kconnect.rest.access import TokenPolicy
from airflow_kconnect.rest.app import create_app
from tests.support.control import control_worker


@pytest.fixture(scope="module")
def control_props(bootstrap: str) -> dict[str, str]:
    """Keys of a worker with topics of its own."""
    return control_worker(bootstrap)


@pytest.fixture(scope="module")
def plane(control_props: dict[str, str]) -> Iterator[ControlPlane]:
    """The control plane of these topics, as a server has it."""
    control = ControlPlane(control_props, ControlStores(control_props))
    yield control
    control.close()


@pytest.fixture(scope="module")
def client(plane: ControlPlane) -> Iterator[TestClient]:
    """A client of the API, without a token."""
    yield TestClient(create_app(lambda: plane, TokenPolicy(None)), raise_server_exceptions=False)
