"""What operators say on an Airflow below 3.3, which lacks retry policies, task state and the end of deferred jobs."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from airflow.providers.common.compat.sdk import AirflowOptionalProviderFeatureException, TaskDeferred

from airflow_kconnect import FreshBy
from airflow_kconnect.operators.retries import connector_retry_policy
from tests.support.airflow.operator_runs import context, source
from tests.support.airflow.versions import below_airflow_3_3
from tests.support.spark.fake_spark import FakeSpark, printing
from tests.support.spark.resource_manager import APPLICATION, ResourceManager, resource_manager

pytestmark = below_airflow_3_3


def test_the_retry_policy_names_the_version_that_it_needs() -> None:
    with pytest.raises(AirflowOptionalProviderFeatureException, match=r"needs Airflow 3\.3 or newer"):
        connector_retry_policy()


def test_a_deadline_by_freshness_names_the_version_that_it_needs() -> None:
    with pytest.raises(AirflowOptionalProviderFeatureException, match=r"needs Airflow 3\.3 or newer"):
        FreshBy("read")


@pytest.fixture
def yarn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ResourceManager]:
    """A ResourceManager, and a spark-submit that leaves its application there."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (tmp_path / "run-files").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "run-files"))
    kafka = {"conn_type": "kafka", "extra": {"bootstrap.servers": "broker:9092"}}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps(kafka))
    FakeSpark(tmp_path).behave(printing(f"INFO YarnClientImpl: Submitted application {APPLICATION}"))
    with resource_manager("RUNNING") as manager:
        extra = {"deploy-mode": "cluster", "yarn_resourcemanager_webapp_address": manager.address}
        spark = {"conn_type": "spark", "host": "yarn", "extra": extra}
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(spark))
        yield manager


@pytest.mark.parametrize("consequence", ["for a retry to find this job again", "to end the job of a task"])
def test_a_deferred_task_says_what_is_missing(
    yarn: ResourceManager, capsys: pytest.CaptureFixture[str], consequence: str
) -> None:
    with pytest.raises(TaskDeferred):
        source(deferrable=True).execute(context())

    assert f"Airflow 3.3 or newer is needed {consequence}" in capsys.readouterr().out
