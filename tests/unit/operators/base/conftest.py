"""A spark-submit that is a script, for operators."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from airflow_kconnect.runs.events import event_line
from tests.support.airflow.operator_runs import REPORT
from tests.support.spark.fake_spark import FakeSpark, printing


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    """Both connections, and a spark-submit that ends with a report."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    # Run files go here, so that a test sees whether one is left.
    (tmp_path / "run-files").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "run-files"))
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    extra = {"bootstrap.servers": "broker:9092", "sasl.password": "conn-pass-1"}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps({"conn_type": "kafka", "extra": extra}))
    spark = FakeSpark(tmp_path)
    spark.behave(printing(event_line("report", report=REPORT)))
    return spark
