"""Connections of services; Airflow has a folder of its own for them."""

from __future__ import annotations

from tests.support.airflow.home import use_own_airflow_home

use_own_airflow_home()
