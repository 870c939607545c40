"""Operators whose jobs Databricks starts, from the operator to records and the report and back.

Its API answers as its documentation says; each run is a Python file in a Python in which Spark has started.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from airflow.providers.common.compat.sdk import TaskDeferred

from airflow_kconnect.errors import ConnectorConfigError
from tests.support.airflow.operator_runs import context
from tests.support.kafka import read_values
from tests.support.objects import objects_of
from tests.support.spark.aws import use_service
from tests.support.spark.databricks import CLUSTER, databricks
from tests.support.spark.service_tasks import Lines, check_error, check_kill, task_of
from tests.support.spark.services import JobRunner
from tests.support.stores import Store


@pytest.fixture
def runner(bucket: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobRunner]:
    """What runs the jobs of Databricks; `spark_default` names a cluster there."""
    runner = JobRunner(tmp_path, bucket)
    with databricks(runner) as server:
        api = urlsplit(server.url)
        workspace = {"conn_type": "databricks", "host": api.hostname, "port": api.port, "schema": "http"}
        monkeypatch.setenv("AIRFLOW_CONN_DATABRICKS_DEFAULT", json.dumps({**workspace, "password": "dapi0"}))
        login = {"staging_conn_id": "aws_default"}
        use_service(monkeypatch, bucket, f"databricks://{CLUSTER}", "s3", bucket.settings["store.endpoint"], **login)
        yield runner


def _connect(monkeypatch: pytest.MonkeyPatch, host: str, extra: dict[str, Any]) -> None:
    spark = {"conn_type": "spark", "host": host, "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(spark))


def test_a_job_moves_records_and_its_report_comes_back(
    runner: JobRunner,
    bucket: Store,
    bootstrap: str,
    worker_props: dict[str, str],
    lines: Lines,
) -> None:
    hoist = "org.apache.kafka.connect.transforms.HoistField$Value"  # it is done by Spark
    config = lines(**{"transforms": "h", "transforms.h.type": hoist, "transforms.h.field": "line"})
    report = task_of(config, worker_props).execute(context())
    assert report is not None
    assert (report["records"]["written"], report["complete"]) == (2, True)
    assert read_values(bootstrap, config["topic"]) == [b"Struct{line=a}", b"Struct{line=b}"]
    assert objects_of(bucket, "kconnect/runs/") == {}
    (run,) = runner.runs.values()
    assert re.search(r"^imported from .*/airflow_kconnect\.zip/", run.log.read_text(), re.MULTILINE)


def test_a_cluster_of_each_run_has_the_settings_of_the_operator(
    runner: JobRunner,
    bucket: Store,
    worker_props: dict[str, str],
    lines: Lines,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = {"spark_version": "17.3.x-scala2.13", "data_security_mode": "SINGLE_USER", "num_workers": 1}
    extra = {"staging": f"{bucket.address}/kconnect", "staging_conn_id": "aws_default", "new_cluster": cluster}
    _connect(monkeypatch, "databricks://new", extra)
    operator = task_of(lines(), worker_props, deferrable=True, conf={"spark.task.maxFailures": "2"})
    with pytest.raises(TaskDeferred):
        operator.execute(context())
    operator.on_kill()
    (run,) = runner.runs.values()
    assert run.request["tasks"][0]["new_cluster"] == {**cluster, "spark_conf": {"spark.task.maxFailures": "2"}}


@pytest.mark.exhaustive  # what a job leaves in its mailbox is read as for EMR Serverless
def test_the_error_of_a_job_is_its_own(
    runner: JobRunner, bucket: Store, worker_props: dict[str, str], lines: Lines
) -> None:
    check_error(lines(), worker_props, bucket)


def test_a_killed_task_ends_its_job(
    runner: JobRunner, bucket: Store, worker_props: dict[str, str], lines: Lines
) -> None:
    check_kill(lines(), worker_props, runner, bucket)


def test_settings_that_a_running_cluster_does_not_take_are_an_error_before_anything_starts(
    runner: JobRunner, bucket: Store, worker_props: dict[str, str], lines: Lines
) -> None:
    with pytest.raises(ConnectorConfigError, match=r"`spark.task.maxFailures`: cannot be set for cluster"):
        task_of(lines(), worker_props, conf={"spark.task.maxFailures": "2"}).execute(context())
    assert (runner.runs, objects_of(bucket, "kconnect/runs/")) == ({}, {})


def test_a_cluster_that_does_not_exist_is_an_error_of_the_configuration(
    runner: JobRunner,
    worker_props: dict[str, str],
    lines: Lines,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    extra = json.loads(os.environ["AIRFLOW_CONN_SPARK_DEFAULT"])["extra"]
    _connect(monkeypatch, "databricks://0000-000000-none0000", extra)
    with pytest.raises(ConnectorConfigError, match=r"Databricks refuses: .*does not exist"):
        task_of(lines(), worker_props).execute(context())
