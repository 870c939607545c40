"""Connector tasks with a script as spark-submit: their contexts, and the reports that it prints."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk.execution_time.context import OutletEventAccessors

from airflow_kconnect.runs.events import event_line
from airflow_kconnect.runs.report import RunReport
from tests.support.spark.fake_spark import FakeSpark, printing

SOURCE = {"name": "lines", "connector.class": "FileStreamSource", "file": "/data/in", "topic": "lines"}
SINK = {"name": "files", "connector.class": "DirectorySink", "topics": "lines", "directory": "/lake"}


def fake_spark(folder: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    """A fake spark-submit, and both connections."""
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    kafka = {"conn_type": "kafka", "extra": {"bootstrap.servers": "broker:9093,b2:9093", "sasl.password": "conn-pass"}}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps(kafka))
    return FakeSpark(folder)


def report(kind: str = "source", **facts: Any) -> dict[str, Any]:
    """A report: by default seven records, all moved."""
    offsets: list[dict[str, Any]] = [{"partition": {"filename": "/data/in"}, "offset": {"position": 70}}]
    if kind == "sink":
        offsets = [{"topic": "lines", "partition": 0, "offset": 7}]
        facts = {"lag": {"lines": 0}, "lag_max": 0} | facts
    usual: dict[str, Any] = {
        "connector": "lines" if kind == "source" else "files",
        "connector_class": "C",
        "run_id": "d/r/t#1",
        "records": {"read": 7, "written": 7, "filtered": 0, "dead_lettered": 0},
        "topics": ["lines"],
        "offsets": offsets,
    }
    return RunReport(kind=kind, **(usual | facts)).as_dict()


def ending_with(content: dict[str, Any]) -> str:
    """The behaviour of a fake spark-submit whose job ends with a report."""
    return printing(event_line("report", report=content))


def context(**facts: Any) -> Any:
    """A task's context, as far as connector tasks use it. XComs that it pushes are in `xcoms`."""
    xcoms: dict[str, Any] = {}
    ti = SimpleNamespace(dag_id="d", task_id="t", run_id="r", map_index=-1, try_number=1, stats_tags={})
    ti.xcom_push = lambda key, value: xcoms.update({key: value})
    dag_run = SimpleNamespace(clear_number=0, run_type="manual")
    return {"ti": ti, "dag_run": dag_run, "outlet_events": OutletEventAccessors(), "xcoms": xcoms} | facts
