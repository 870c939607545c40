"""The version of Airflow, read without importing it, and marks for tests that need more than the oldest one."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from packaging.version import Version

AIRFLOW = Version(version("apache-airflow-core")).release[:2]

needs_airflow_3_2 = pytest.mark.skipif(AIRFLOW < (3, 2), reason="needs Airflow 3.2")
needs_airflow_3_3 = pytest.mark.skipif(AIRFLOW < (3, 3), reason="needs Airflow 3.3")
below_airflow_3_3 = pytest.mark.skipif(AIRFLOW >= (3, 3), reason="about Airflow below 3.3")
