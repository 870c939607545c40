"""Airflow without a database: connections from environment variables."""

from __future__ import annotations

from tests.support.airflow.home import use_own_airflow_home

use_own_airflow_home()
