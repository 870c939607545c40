"""Airflow for unit tests: no database, connections from environment variables, no broker."""

from __future__ import annotations

import pytest

from tests.support.airflow.home import use_own_airflow_home
from tests.support.airflow.masks import masks_of_its_own
from tests.support.airflow.versions import AIRFLOW

__all__ = ["masks_of_its_own"]

use_own_airflow_home()

# Retry policies, and what the tests of metrics take of Airflow's own modules, came with 3.3.
collect_ignore = [] if AIRFLOW >= (3, 3) else ["test_retries.py", "test_metrics.py"]


@pytest.fixture(autouse=True)
def _nobody_paused_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs ask the config topic whether their connector is paused; here is no broker that has one."""
    monkeypatch.setattr("airflow_kconnect.operators.states.target_state", lambda name, worker: "STARTED")
    monkeypatch.setattr("airflow_kconnect.operators.groups.members.not_started", lambda names, worker: {})
