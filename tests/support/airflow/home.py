"""An Airflow home for the tests alone; must be set before Airflow is imported."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

_OURS = "KCONNECT_TEST_AIRFLOW_HOME"
PATIENT = {"AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT": "180", "AIRFLOW__DAG_PROCESSOR__DAG_FILE_PROCESSOR_TIMEOUT": "200"}
"""Settings with which a DAG file may take a while: on a busy machine its imports do."""


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
        # Threads of an API server and of tests write to it: each waits for the others.
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}?timeout=60",
        **PATIENT,
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
    }
    return home
