"""What a connector's task on a Spark service must do, whichever service it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import TaskDeferred

from airflow_kconnect import KafkaSourceOperator
from airflow_kconnect.errors import ConnectorConfigError
from tests.support.airflow.operator_runs import context
from tests.support.kafka import read_values
from tests.support.objects import objects_of
from tests.support.spark.services import JobRunner
from tests.support.stores import Store

Lines = Callable[..., dict[str, Any]]
"""Makes the configuration of a source of two lines; its topic has its name."""


def task_of(config: dict[str, Any], worker: dict[str, str], **parameters: Any) -> KafkaSourceOperator:
    """The task of a source."""
    return KafkaSourceOperator(task_id="read", connector=config, worker_config=worker, kafka_conn_id=None, **parameters)


def check_records_and_report(config: dict[str, Any], worker: dict[str, str], bucket: Store) -> None:
    """Its records are moved, its report comes back, and nothing is left in its mailbox."""
    report = task_of(config, worker).execute(context())
    assert report is not None
    assert (report["records"]["written"], report["complete"]) == (2, True)
    assert read_values(worker["bootstrap.servers"], config["topic"]) == [b"a", b"b"]
    assert objects_of(bucket, "kconnect/runs/") == {}


def check_error(config: dict[str, Any], worker: dict[str, str], bucket: Store) -> None:
    """The error of the job is that of the task. The service knows that it has failed, and no more."""
    with pytest.raises(ConnectorConfigError, match="/nowhere/at/all"):
        task_of(config | {"file": "/nowhere/at/all"}, worker).execute(context())
    assert objects_of(bucket, "kconnect/runs/") == {}


def check_kill(config: dict[str, Any], worker: dict[str, str], runner: JobRunner, bucket: Store) -> None:
    """A killed task ends its job."""
    operator = task_of(config, worker, deferrable=True)
    with pytest.raises(TaskDeferred):
        operator.execute(context())
    operator.on_kill()
    (run,) = runner.runs.values()
    assert run.cancelled
    assert objects_of(bucket, "kconnect/runs/") == {}
