"""Airflow for unit tests: no database, connections from environment variables."""

from __future__ import annotations

from tests.support.airflow_connections import connection
from tests.support.airflow_home import use_own_airflow_home

__all__ = ["connection"]

use_own_airflow_home()
