"""Operators whose jobs run on Dataproc: as batches, and on a cluster.

The service answers as its documentation says, and runs each job by spark-submit; the staging folder is one of S3.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.spark.aws import use_service
from tests.support.spark.dataproc import CLUSTER, PROJECT, REGION, dataproc, service_account_key
from tests.support.spark.service_tasks import Lines, check_kill, check_records_and_report
from tests.support.spark.services import JobRunner
from tests.support.stores import Store

BATCHES, JOBS = f"dataproc-serverless://{PROJECT}/{REGION}", f"dataproc://{PROJECT}/{REGION}/{CLUSTER}"


@pytest.fixture
def runner(
    request: pytest.FixtureRequest, bucket: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[JobRunner]:
    """What runs the jobs of a service, which `spark_default` names."""
    runner = JobRunner(tmp_path, bucket)
    with dataproc(runner) as server:
        login = {"conn_type": "google_cloud_platform", "extra": {"keyfile_dict": service_account_key()}}
        monkeypatch.setenv("AIRFLOW_CONN_GOOGLE_CLOUD_DEFAULT", json.dumps(login))
        extra = {"api_endpoint": server.url, "staging_conn_id": "aws_default"}
        use_service(monkeypatch, bucket, request.param, "s3", bucket.settings["store.endpoint"], **extra)
        yield runner


@pytest.mark.exhaustive  # the job is that of EMR Serverless, and unit tests know the request
@pytest.mark.parametrize("runner", [BATCHES, JOBS], indirect=True)
def test_a_job_moves_records_and_its_report_comes_back(
    runner: JobRunner, bucket: Store, worker_props: dict[str, str], lines: Lines
) -> None:
    check_records_and_report(lines(), worker_props, bucket)


@pytest.mark.parametrize("runner", [BATCHES, JOBS], indirect=True)
def test_a_killed_task_ends_its_job(
    runner: JobRunner, bucket: Store, worker_props: dict[str, str], lines: Lines
) -> None:
    check_kill(lines(), worker_props, runner, bucket)
