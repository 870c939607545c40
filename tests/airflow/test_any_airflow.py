"""A pipeline as a person starts it, `airflow dags test`, by what every supported version of Airflow offers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from airflow_kconnect.local.broker import EmbeddedBroker

pytestmark = [pytest.mark.spark_submit, pytest.mark.timeout(900)]

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def airflow(broker: EmbeddedBroker, tmp_path: Path) -> Callable[..., None]:
    """Runs a command of Airflow, in a home of its own, with the connections and variables that the example needs."""
    home = tmp_path / "home"
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(REPOSITORY / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow.db",
        "AIRFLOW_CONN_KAFKA_DEFAULT": json.dumps({"conn_type": "kconnect", "host": broker.bootstrap}),
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "local[2]"}),
        "AIRFLOW_VAR_KCONNECT_EXAMPLE_FOLDER": str(tmp_path),
    }

    def run(*words: str) -> None:
        command = [sys.executable, "-m", "airflow", *words]
        ran = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=400
        )
        assert ran.returncode == 0, ran.stdout[-8000:]

    run("db", "migrate")
    return run


def test_a_second_run_moves_only_what_is_new(airflow: Callable[..., None], tmp_path: Path) -> None:
    lines = [f"line {number}, é \U0001f680" for number in range(300)]

    for count in (200, 300):
        (tmp_path / "input.csv").write_text("".join(f"{line}\n" for line in lines[:count]), "utf-8")
        airflow("dags", "test", "example_file_pipeline")

    files = sorted((tmp_path / "output").rglob("*.json"))
    assert [json.loads(row) for file in files for row in file.read_text("utf-8").splitlines()] == lines
