"""Operators whose jobs run on Dataproc: as batches, and on a cluster.

The service answers as its documentation says, and runs each job by spark-submit; the staging folder is one of S3.
"""

from __future__ import annotations

import json
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
from tests.support.spark.aws import use_service
from tests.support.spark.dataproc import CLUSTER, PROJECT, REGION, dataproc, service_account_key
from tests.support.spark.services import JobRunner
from tests.support.stores import Store, moto_store


@pytest.fixture(scope="module")
def bucket() -> Iterator[Store]:
    with moto_store(unique("staging")) as store:
        yield store


@pytest.fixture(params=[f"dataproc-serverless://{PROJECT}/{REGION}", f"dataproc://{PROJECT}/{REGION}/{CLUSTER}"])
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
