"""Tasks whose job a service has: what a retry makes of one that the service has forgotten, or says nothing about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import TaskDeferred

from airflow_kconnect.errors import ConnectorRetriableError
from tests.support.airflow.operator_runs import REPORT, context, source
from tests.support.airflow.versions import needs_airflow_3_3
from tests.support.connectors.connector_tasks import report
from tests.support.connectors.group_tasks import Store, a_source, done, failed, group
from tests.support.spark.fake_service import FakeService


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeService:
    """`spark_default` names it."""
    service = FakeService(tmp_path / "staging")
    for user in ("hooks.spark_service", "triggers.spark_job"):
        monkeypatch.setattr(f"airflow_kconnect.{user}.open_service", lambda *_: service)
    spark = {"conn_type": "spark", "host": "livy://livy_default", "extra": {"staging": str(tmp_path / "staging")}}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(spark))
    kafka = {"conn_type": "kafka", "extra": {"bootstrap.servers": "broker:9092"}}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps(kafka))
    monkeypatch.setattr("airflow_kconnect.submit.statuses._writer", None)
    return service


def _defer(operator: Any, store: Store) -> dict[str, Any]:
    with pytest.raises(TaskDeferred) as deferred:
        operator.execute(context() | {"task_state_store": store})
    return json.loads(json.dumps(deferred.value.kwargs))  # type: ignore[no-any-return]


@needs_airflow_3_3
def test_a_retry_reads_the_report_of_a_job_that_has_succeeded_and_is_forgotten(service: FakeService) -> None:
    _defer(source(deferrable=True), store := Store())
    service.forget(done("lines", **REPORT))
    assert source().execute(context() | {"task_state_store": store}) == REPORT
    assert len(service.started) == 1


@needs_airflow_3_3
def test_a_retry_of_a_job_that_has_failed_and_is_forgotten_ends_as_its_own_job(service: FakeService) -> None:
    _defer(source(deferrable=True), store := Store())
    service.forget(failed("lines", "ConfigError", 1))
    service.meanwhile = lambda: service.forget(done("lines", **REPORT))
    assert source().execute(context() | {"task_state_store": store}) == REPORT
    assert len(service.started) == 2


@needs_airflow_3_3
def test_a_retry_of_a_group_reads_the_reports_of_a_job_that_has_succeeded_and_is_forgotten(
    service: FakeService,
) -> None:
    connectors, store = [a_source("a"), a_source("b")], Store()
    _defer(group(*connectors, deferrable=True), store)
    service.forget(done("a"), done("b"))
    reports = group(*connectors).execute(context() | {"task_state_store": store})
    assert (reports, len(service.started)) == ({name: report(connector=name) for name in "ab"}, 1)


def test_a_job_of_which_there_is_no_news_keeps_its_run_spec(service: FakeService) -> None:
    """It may be waiting for machines: a retry looks for it first."""
    kwargs = _defer(source(deferrable=True), Store())
    event = {"status": "unavailable", "job_id": "1", "message": "no answer"}
    with pytest.raises(ConnectorRetriableError, match="a retry looks for it first"):
        source().execute_complete(context(), event, **kwargs)
    assert [path.name for path in service.mailboxes.glob("*/*")] == ["run.json"]
