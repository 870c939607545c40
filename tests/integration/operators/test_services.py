"""Operators whose jobs a service starts: the whole way, from the operator to records and the report and back.

The service answers as its documentation says, and runs each job by spark-submit; files of S3 are in a folder.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from airflow.providers.common.compat.sdk import TaskDeferred

from airflow_kconnect import KafkaConnectorGroupOperator
from airflow_kconnect.errors import ConnectorConfigError
from airflow_kconnect.triggers.spark_job import ServiceJobTrigger
from tests.support.airflow.operator_runs import context
from tests.support.airflow.versions import needs_airflow_3_3
from tests.support.connectors.group_tasks import Store
from tests.support.kafka import read_values
from tests.support.objects import objects_of
from tests.support.spark.aws import ROLE, use_service
from tests.support.spark.emr_serverless import emr_serverless
from tests.support.spark.service_tasks import Lines, check_kill, task_of
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


def test_a_killed_task_ends_its_job(
    runner: JobRunner, bucket: Bucket, worker_props: dict[str, str], lines: Lines
) -> None:
    check_kill(lines(), worker_props, runner, bucket)


def test_each_connector_of_a_group_reports(runner: JobRunner, worker_props: dict[str, str], lines: Lines) -> None:
    good, bad = lines(), lines(file="/nowhere/at/all")
    given = context()
    with pytest.raises(ConnectorConfigError, match="/nowhere/at/all"):
        KafkaConnectorGroupOperator(
            task_id="all", connectors=[good, bad], worker_config=worker_props, kafka_conn_id=None
        ).execute(given)
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
