"""Operators whose jobs run on EMR: as steps of a cluster, and as job runs on EKS.

The services answer as their documentation says, and run each job by spark-submit; files of S3 are in a folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.spark.aws import ROLE, use_service
from tests.support.spark.emr import emr
from tests.support.spark.emr_eks import emr_eks
from tests.support.spark.service_tasks import Lines, check_kill, check_records_and_report
from tests.support.spark.services import JobRunner
from tests.support.stores import Store


@pytest.fixture
def runner(
    request: pytest.FixtureRequest, bucket: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[JobRunner]:
    """What runs the jobs of a service, which `spark_default` names."""
    runner = JobRunner(tmp_path, bucket)
    if request.param == "emr":
        with emr(runner, "j-1ABC") as server:
            use_service(monkeypatch, bucket, "emr://j-1ABC", "emr", server.url)
            yield runner
    else:
        with emr_eks(runner, "vc1") as server:
            extra = {"execution_role_arn": ROLE, "release_label": "emr-spark-8.0.0-latest"}
            use_service(monkeypatch, bucket, "emr-eks://vc1", "emr-containers", server.url, **extra)
            yield runner


@pytest.mark.exhaustive  # the job is that of EMR Serverless, and unit tests know the request
@pytest.mark.parametrize("runner", ["emr", "emr-eks"], indirect=True)
def test_a_job_moves_records_and_its_report_comes_back(
    runner: JobRunner, bucket: Store, worker_props: dict[str, str], lines: Lines
) -> None:
    check_records_and_report(lines(), worker_props, bucket)


@pytest.mark.parametrize("runner", ["emr", "emr-eks"], indirect=True)
def test_a_killed_task_ends_its_job(
    runner: JobRunner, bucket: Store, worker_props: dict[str, str], lines: Lines
) -> None:
    check_kill(lines(), worker_props, runner, bucket)
