"""Airflow for unit tests: no database, connections from environment variables, no broker."""

from __future__ import annotations

import pytest

from tests.support.airflow_home import use_own_airflow_home

use_own_airflow_home()


@pytest.fixture(autouse=True)
def _nobody_paused_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs ask the config topic whether their connector is paused; here is no broker that has one."""
    monkeypatch.setattr("airflow_kconnect.operators.states.target_state", lambda name, worker: "STARTED")
