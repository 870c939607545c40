"""Operators that ask a real broker; spark-submit is a script."""

from __future__ import annotations

from tests.support.airflow.home import use_own_airflow_home

use_own_airflow_home()
