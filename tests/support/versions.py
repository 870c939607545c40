"""Marks of tests that need a newer version than the oldest supported one, and of those about the older ones."""

from __future__ import annotations

import pytest
from airflow.providers.common.compat.version_compat import AIRFLOW_V_3_2_PLUS, AIRFLOW_V_3_3_PLUS

needs_airflow_3_2 = pytest.mark.skipif(not AIRFLOW_V_3_2_PLUS, reason="needs Airflow 3.2")
needs_airflow_3_3 = pytest.mark.skipif(not AIRFLOW_V_3_3_PLUS, reason="needs Airflow 3.3")
below_airflow_3_3 = pytest.mark.skipif(AIRFLOW_V_3_3_PLUS, reason="about Airflow below 3.3")
