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

# With the newest versions other tests run such pipelines; `make lowest` runs this one.
pytestmark = [pytest.mark.spark_submit, pytest.mark.exhaustive, pytest.mark.timeout(900)]

DAG = """
from airflow.sdk import DAG

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator

STRINGS = {{"value.converter": "org.apache.kafka.connect.storage.StringConverter"}}
SOURCE = {{"connector.class": "FileStreamSource", "file": "{folder}/input.csv", "topic": "any-airflow", **STRINGS}}
SINK = {{"connector.class": "DirectorySink", "topics": "any-airflow", "directory": "{folder}/output", **STRINGS}}

with DAG("any_airflow", schedule=None):
    read = KafkaSourceOperator(task_id="read", connector={{"name": "any-source", "config": SOURCE}})
    read >> KafkaSinkOperator(task_id="write", connector={{"name": "any-sink", "config": SINK}})
"""


@pytest.fixture
def airflow(broker: EmbeddedBroker, tmp_path: Path) -> Callable[..., None]:
    """Runs a command of Airflow, in a home of its own, with the connections that the DAG needs."""
    home = tmp_path / "home"
    (tmp_path / "dags").mkdir()
    (tmp_path / "dags" / "any_airflow.py").write_text(DAG.format(folder=tmp_path))
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(tmp_path / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow.db",
        "AIRFLOW_CONN_KAFKA_DEFAULT": json.dumps({"conn_type": "kconnect", "host": broker.bootstrap}),
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "local[2]"}),
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
        airflow("dags", "test", "any_airflow")

    files = sorted((tmp_path / "output").rglob("*.json"))
    assert [json.loads(row) for file in files for row in file.read_text("utf-8").splitlines()] == lines
