"""Airflow for unit tests: no database, connections from environment variables."""

from __future__ import annotations

from tests.support.airflow.connections import connection
from tests.support.airflow.home import use_own_airflow_home
from tests.support.airflow.masks import masks_of_its_own

__all__ = ["connection", "masks_of_its_own"]

use_own_airflow_home()
