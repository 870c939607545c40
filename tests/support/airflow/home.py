"""An Airflow home for the tests alone; must be set before Airflow is imported."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

_OURS = "KCONNECT_TEST_AIRFLOW_HOME"


def use_own_airflow_home() -> Path:
    """Point this process and its children to an empty Airflow home, once per test run."""
    if _OURS in os.environ:
        return Path(os.environ[_OURS])
    if "airflow" in sys.modules:
        raise RuntimeError("Airflow was imported before its home was set")
    home = Path(tempfile.mkdtemp(prefix="kconnect-airflow-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    os.environ |= {
        _OURS: str(home),
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(Path(__file__).parents[3] / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
    }
    return home
