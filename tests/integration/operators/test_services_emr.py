"""Operators whose jobs run on EMR: as steps of a cluster, and as job runs on EKS.

The services answer as their documentation says, and run each job by spark-submit; files of S3 are in a folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import TaskDeferred

from airflow_kconnect import KafkaSourceOperator
from airflow_kconnect.errors import ConnectorConfigError
from tests.support import unique
from tests.support.airflow.operator_runs import context
from tests.support.kafka import read_values
from tests.support.objects import objects_of
from tests.support.spark.aws import ROLE, use_service
from tests.support.spark.emr import emr
from tests.support.spark.emr_eks import emr_eks
from tests.support.spark.services import JobRunner
from tests.support.stores import Store, moto_store


@pytest.fixture(scope="module")
def bucket() -> Iterator[Store]:
    with moto_store(unique("staging")) as store:
        yield store


@pytest.fixture(params=["emr", "emr-eks"])
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


@pytest.fixture
def config(tmp_path: Path) -> dict[str, Any]:
    name = unique("lines")
    (file := tmp_path / name).write_text("a\nb\n")
    text = "org.apache.kafka.connect.storage.StringConverter"
    source = {"connector.class": "FileStreamSource", "file": str(file), "topic": name, "value.converter": text}
    return {"name": name, **source}


def _source(config: dict[str, Any], worker: dict[str, str], **parameters: Any) -> KafkaSourceOperator:
    return KafkaSourceOperator(task_id="read", connector=config, worker_config=worker, kafka_conn_id=None, **parameters)


def test_a_job_moves_records_and_its_report_comes_back(
    runner: JobRunner, bucket: Store, bootstrap: str, worker_props: dict[str, str], config: dict[str, Any]
) -> None:
    report = _source(config, worker_props).execute(context())
    assert report is not None
    assert (report["records"]["written"], report["complete"]) == (2, True)
    assert read_values(bootstrap, config["topic"]) == [b"a", b"b"]
    assert objects_of(bucket, "kconnect/runs/") == {}


@pytest.mark.exhaustive  # what a job leaves in its mailbox is read as for EMR Serverless
def test_the_error_of_a_job_is_its_own(
    runner: JobRunner, bucket: Store, worker_props: dict[str, str], config: dict[str, Any]
) -> None:
    with pytest.raises(ConnectorConfigError, match="/nowhere/at/all"):
        _source(config | {"file": "/nowhere/at/all"}, worker_props).execute(context())
    assert objects_of(bucket, "kconnect/runs/") == {}


def test_a_killed_task_ends_its_job(
    runner: JobRunner, bucket: Store, worker_props: dict[str, str], config: dict[str, Any]
) -> None:
    operator = _source(config, worker_props, deferrable=True)
    with pytest.raises(TaskDeferred):
        operator.execute(context())
    operator.on_kill()
    (run,) = runner.runs.values()
    assert run.cancelled
    assert objects_of(bucket, "kconnect/runs/") == {}
