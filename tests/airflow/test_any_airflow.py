"""A pipeline as a person starts it, `airflow dags test`, by what every supported version of Airflow offers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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


# One process for all: each would import Airflow for seconds.
TYPED = """
import pathlib, sys
from airflow.__main__ import main

sys.argv = ["airflow", "db", "migrate"]
main()
for end in (200, 300):
    pathlib.Path("input.csv").write_text("".join(f"line {number}, é \U0001f680\\n" for number in range(end)), "utf-8")
    sys.argv = ["airflow", "dags", "test", "any_airflow"]
    main()
"""


def test_a_second_run_moves_only_what_is_new(broker: EmbeddedBroker, tmp_path: Path) -> None:
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
    command = [sys.executable, "-c", TYPED]
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=800
    )
    assert ran.returncode == 0, ran.stdout[-8000:]
    files = sorted((tmp_path / "output").rglob("*.json"))
    written = [json.loads(row) for file in files for row in file.read_text("utf-8").splitlines()]
    assert written == [f"line {number}, é \U0001f680" for number in range(300)]
