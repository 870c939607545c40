"""Airflow's own callbacks, called by Airflow itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.airflow.dags import add_dag

DAG = """
import json, os
from pathlib import Path

from airflow.sdk import DAG

from airflow_kconnect import KafkaSourceOperator

LINES = {"name": "lines", "connector.class": "FileStreamSource", "file": "/in", "topic": "lines"}

def note(context):
    Path(os.environ["NOTED"]).write_text(json.dumps([context["kconnect"], str(context["exception"])]))

with DAG("wrong_connector"):
    KafkaSourceOperator(task_id="read", connector={**LINES, "tasks.max": "many"}, on_failure_callback=note)
"""


def test_a_failure_callback_finds_the_error_in_its_context(
    airflow_database: Path, connections: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = tmp_path / "noted.json"
    monkeypatch.setenv("NOTED", str(noted))

    run = add_dag(tmp_path / "dags", DAG).test()

    facts, exception = json.loads(noted.read_text())
    assert run.state == "failed"
    assert (facts["connector"], facts["kind"], facts["error"]) == ("lines", "source", "ConnectorConfigError")
    assert "`tasks.max`" in facts["message"]
    assert facts["message"] == exception
