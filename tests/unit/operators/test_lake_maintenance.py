"""The operator for the upkeep of tables: what its job gets, and what it does not do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect import LakeMaintenanceOperator
from airflow_kconnect.errors import ConnectorConfigError
from airflow_kconnect.runs.events import event_line
from airflow_kconnect.runs.report import RunReport
from tests.support.airflow.operator_runs import context
from tests.support.connectors.connector_tasks import fake_spark
from tests.support.spark.fake_spark import FakeSpark, printing

CONNECTOR = {
    "name": "orders",
    "connector.class": "SparkTableSink",
    "topics": "orders",
    "table.format": "iceberg",
    "table.jars": "provided",
}
TABLES = {"lake.shop.orders": {"files": [412, 9], "bytes": [1_900_000_000, 1_700_000_000], "compacted": 405}}
REPORT = RunReport(
    "orders", "upkeep", "SparkTableSink", "r", notes={"upkeep": TABLES, "older_than": "2026-01-01T00:00:00Z"}
).as_dict()


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    spark = fake_spark(tmp_path, monkeypatch)
    spark.behave(printing(event_line("report", report=REPORT)))
    return spark


def upkeep(**parameters: Any) -> LakeMaintenanceOperator:
    return LakeMaintenanceOperator(task_id="t", connector=CONNECTOR, **parameters)


def test_the_job_gets_the_order_and_the_task_returns_the_report(job: FakeSpark) -> None:
    report = upkeep(steps=["compact"], tables=["lake.shop.orders"], keep_days="3").execute(context())

    assert report == REPORT
    spec = job.run["spec"]
    assert (spec["kind"], spec["dry_run"], spec["replay"]) == ("sink", False, None)
    expected = {"steps": ["compact"], "tables": ["lake.shop.orders"], "keep_days": 3.0, "wait_s": 600.0}
    assert spec["upkeep"] == expected


def test_its_log_shows_files_before_and_after(job: FakeSpark, capsys: pytest.CaptureFixture[str]) -> None:
    upkeep().execute(context())
    log = capsys.readouterr().out
    assert "lake.shop.orders  Files: 412 -> 9" in log and "Size: 1.9 GB -> 1.7 GB" in log


def test_a_backfill_replays_nothing(job: FakeSpark) -> None:
    asked = context()
    asked["dag_run"].run_type = "backfill"
    upkeep().execute(asked)
    assert job.run["spec"]["replay"] is None


def test_a_dry_run_is_asked_for_by_the_form(job: FakeSpark) -> None:
    asked = context()
    asked["params"] = {"dry_run": True}
    upkeep().execute(asked)
    assert job.run["spec"]["dry_run"] is True


def test_a_paused_connector_is_looked_after(job: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("airflow_kconnect.operators.states.target_state", lambda name, worker: "PAUSED")
    assert upkeep().execute(context()) == REPORT


def test_a_step_that_is_unknown_is_an_error_before_spark_starts(job: FakeSpark) -> None:
    with pytest.raises(ConnectorConfigError, match="polish is unknown; there are compact, metadata, expire, orphans"):
        upkeep(steps=["polish"]).execute(context())
