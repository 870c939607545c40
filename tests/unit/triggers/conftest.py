"""Airflow for unit tests: no database, connections from environment variables."""

from __future__ import annotations

from tests.support.airflow.connections import connection
from tests.support.airflow.home import use_own_airflow_home

__all__ = ["connection"]

use_own_airflow_home()
