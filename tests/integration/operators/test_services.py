"""Operators whose jobs a service starts: the whole way, from the operator to records and the report and back.

The service answers as its documentation says, and runs each job by spark-submit; files of S3 are in a folder.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import TaskDeferred

from airflow_kconnect import KafkaConnectorGroupOperator
from airflow_kconnect.errors import ConnectorConfigError, ConnectorRetriableError
from airflow_kconnect.submit.registered import Connector
from airflow_kconnect.triggers.spark_job import ServiceJobTrigger
from tests.support import unique
from tests.support.airflow.operator_runs import context
from tests.support.airflow.versions import needs_airflow_3_3
from tests.support.connectors.group_tasks import Store
from tests.support.kafka import read_values
from tests.support.objects import objects_of
from tests.support.spark.aws import ROLE, use_service
from tests.support.spark.emr_serverless import emr_serverless
from tests.support.spark.service_tasks import Lines, check_error, check_kill, task_of
from tests.support.spark.services import JobRunner
from tests.support.stores import Store as Bucket


@pytest.fixture
def runner(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobRunner]:
    """What runs the jobs of EMR Serverless; `spark_default` names an application there."""
    runner = JobRunner(tmp_path, bucket)
    with emr_serverless(runner, "00app1") as server:
        extra = {"execution_role_arn": ROLE}
        use_service(monkeypatch, bucket, "emr-serverless://00app1", "emr-serverless", server.url, **extra)
        yield runner


def _group(connectors: Sequence[Connector], worker: dict[str, str], **parameters: Any) -> KafkaConnectorGroupOperator:
    return KafkaConnectorGroupOperator(
        task_id="all", connectors=connectors, worker_config=worker, kafka_conn_id=None, **parameters
    )


@pytest.mark.exhaustive  # as that of a connector of a group
def test_the_error_of_a_job_is_its_own(
    runner: JobRunner, bucket: Bucket, worker_props: dict[str, str], lines: Lines
) -> None:
    check_error(lines(), worker_props, bucket)


@needs_airflow_3_3
def test_a_deferred_job_moves_records_its_report_reaches_a_retry_and_neither_service_nor_trigger_is_told_a_secret(
    runner: JobRunner, bucket: Bucket, bootstrap: str, worker_props: dict[str, str], lines: Lines
) -> None:
    config = lines() | {"secret.password": "s3cr3t-word"}
    given = context() | {"task_state_store": Store()}
    with pytest.raises(TaskDeferred):  # the first worker is not heard of any more
        task_of(config, worker_props, deferrable=True).execute(given)
    with pytest.raises(TaskDeferred) as deferred:
        task_of(config, worker_props, deferrable=True).execute(given)
    trigger, kwargs = deferred.value.trigger, deferred.value.kwargs
    path, facts = trigger.serialize()
    assert path == "airflow_kconnect.triggers.spark_job.ServiceJobTrigger"
    event = asyncio.run(ServiceJobTrigger(**facts).wait())
    report = task_of(config, worker_props).execute_complete(context(), event, **json.loads(json.dumps(kwargs)))
    assert report is not None
    assert (report["records"]["written"], report["complete"]) == (2, True)
    assert read_values(bootstrap, config["topic"]) == [b"a", b"b"]
    assert objects_of(bucket, "kconnect/runs/") == {}
    (run,) = runner.runs.values()
    assert "s3cr3t-word" not in json.dumps([run.request, facts, kwargs])


@needs_airflow_3_3
def test_a_retry_reads_the_report_of_a_job_that_has_succeeded_and_is_forgotten(
    runner: JobRunner, worker_props: dict[str, str], lines: Lines
) -> None:
    config, store = lines(), Store()
    with pytest.raises(TaskDeferred):
        task_of(config, worker_props, deferrable=True).execute(context() | {"task_state_store": store})
    _forgotten(runner)
    report = task_of(config, worker_props).execute(context() | {"task_state_store": store})
    assert report is not None
    assert (len(runner.runs), report["records"]["written"]) == (0, 2)


def _forgotten(runner: JobRunner) -> None:
    """The job ends, its report or error is in its mailbox, and the service forgets it."""
    (job_id,) = runner.runs
    process = runner.runs[job_id].process
    assert process is not None
    process.wait(240)
    runner.runs.pop(job_id).objects.put_back()


@needs_airflow_3_3
def test_a_retry_of_a_job_that_has_failed_and_is_forgotten_ends_as_its_own_job(
    runner: JobRunner, worker_props: dict[str, str], lines: Lines, tmp_path: Path
) -> None:
    config, store = lines(file=str(tmp_path / "late")), Store()
    with pytest.raises(TaskDeferred):
        task_of(config, worker_props, deferrable=True).execute(context() | {"task_state_store": store})
    _forgotten(runner)
    (tmp_path / "late").write_text("a\nb\n")
    report = task_of(config, worker_props).execute(context() | {"task_state_store": store})
    assert report is not None
    assert report["records"]["written"] == 2


@needs_airflow_3_3
def test_a_retry_of_a_group_reads_the_reports_of_a_job_that_has_succeeded_and_is_forgotten(
    runner: JobRunner, worker_props: dict[str, str], lines: Lines
) -> None:
    connectors, store = [lines(), lines()], Store()
    with pytest.raises(TaskDeferred):
        _group(connectors, worker_props, deferrable=True).execute(context() | {"task_state_store": store})
    _forgotten(runner)
    reports = _group(connectors, worker_props).execute(context() | {"task_state_store": store})
    assert reports is not None
    assert ([each["records"]["written"] for each in reports.values()], runner.runs) == ([2, 2], {})


@needs_airflow_3_3
def test_a_retry_of_a_deferred_group_moves_only_what_is_left_and_has_all_reports(
    runner: JobRunner, worker_props: dict[str, str], lines: Lines
) -> None:
    asked = {"http.request.url": "http://127.0.0.1:9/", "max.retries": "0", "kconnect.http.schema": "none"}
    away = {"name": unique("away"), "connector.class": "HttpSource", "topic": "away", **asked}
    good, store, found = lines(), Store(), []
    for _ in range(2):
        with pytest.raises(TaskDeferred) as deferred:
            _group([good, away], worker_props, deferrable=True).execute(context() | {"task_state_store": store})
        event = asyncio.run(deferred.value.trigger.wait())
        given = context() | {"task_state_store": store}
        with pytest.raises(ConnectorRetriableError, match="1 of 2 connectors failed"):
            _group([good, away], worker_props).execute_complete(given, event, **(deferred.value.kwargs or {}))
        found.append(given["kconnect"]["reports"][good["name"]])
    assert found[0] == found[1]
    assert found[0]["records"]["written"] == 2


def test_a_killed_task_ends_its_job(
    runner: JobRunner, bucket: Bucket, worker_props: dict[str, str], lines: Lines
) -> None:
    check_kill(lines(), worker_props, runner, bucket)


def test_each_connector_of_a_group_reports(runner: JobRunner, worker_props: dict[str, str], lines: Lines) -> None:
    good, bad = lines(), lines(file="/nowhere/at/all")
    given = context()
    with pytest.raises(ConnectorConfigError, match="/nowhere/at/all"):
        _group([good, bad], worker_props).execute(given)
    assert given["kconnect"]["reports"][good["name"]]["records"]["written"] == 2


def test_a_request_that_is_refused_is_an_error_of_the_configuration(
    runner: JobRunner,
    worker_props: dict[str, str],
    lines: Lines,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spark = json.loads(os.environ["AIRFLOW_CONN_SPARK_DEFAULT"]) | {"host": "emr-serverless://00app2"}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(spark))
    with pytest.raises(ConnectorConfigError, match=r"refuses: .*there is no such resource") as refused:
        task_of(lines(), worker_props).execute(context())
    assert type(refused.value) is ConnectorConfigError  # not its subclass, which is about data


def test_a_job_of_which_there_is_no_news_keeps_its_run_spec(
    runner: JobRunner,
    bucket: Bucket,
    worker_props: dict[str, str],
    lines: Lines,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may be waiting for machines: a retry looks for it first. Last, because it leaves the mailbox."""
    config = lines()
    monkeypatch.setattr(runner, "start", lambda *_: "queued")
    with pytest.raises(TaskDeferred) as deferred:
        task_of(config, worker_props, deferrable=True).execute(context())
    event = {"status": "unavailable", "job_id": "queued", "message": "no answer"}
    with pytest.raises(ConnectorRetriableError, match="a retry looks for it first"):
        task_of(config, worker_props).execute_complete(context(), event, **(deferred.value.kwargs or {}))
    run = (deferred.value.kwargs or {})["facts"]["mailbox"]
    assert list(objects_of(bucket, f"kconnect/runs/{run}/")) != []
