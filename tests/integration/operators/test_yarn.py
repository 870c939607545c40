"""Operators whose jobs run on a real YARN: where the driver runs, what comes back, and what a kill ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import TaskDeferred

from airflow_kconnect import KafkaSourceOperator
from airflow_kconnect.triggers.spark_job import YarnApplicationTrigger
from tests.support.airflow.operator_runs import context
from tests.support.airflow.versions import needs_airflow_3_3
from tests.support.connectors.group_tasks import Store
from tests.support.kafka import read_values
from tests.support.spark.service_tasks import Lines, task_of
from tests.support.spark.yarn import YarnCluster


@pytest.fixture(scope="module")
def yarn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[YarnCluster]:
    cluster = YarnCluster(tmp_path_factory.mktemp("yarn"))
    yield cluster
    cluster.remove()


Connect = Callable[..., None]


@pytest.fixture
def connect(yarn: YarnCluster, monkeypatch: pytest.MonkeyPatch) -> Connect:
    """Makes `spark_default` a connection to the cluster, with these extras."""
    monkeypatch.setenv("YARN_CONF_DIR", str(yarn.settings))
    monkeypatch.setenv("HADOOP_CONF_DIR", str(yarn.settings))
    monkeypatch.setattr("airflow_kconnect.operators.tracking._YARN_POLL_S", 1)

    def make(**extra: str) -> None:
        given = {"yarn_resourcemanager_webapp_address": yarn.url, **extra}
        connection = {"conn_type": "spark", "host": "yarn", "extra": given}
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))

    return make


@pytest.fixture
def source(yarn: YarnCluster, worker_props: dict[str, str]) -> Callable[..., KafkaSourceOperator]:
    def make(config: dict[str, Any], **parameters: Any) -> KafkaSourceOperator:
        of_yarn = {"conf": yarn.conf(), "driver_memory": "512m", "durable": True}
        return task_of(config, worker_props, **of_yarn | parameters)

    return make


@pytest.fixture
def config(lines: Lines) -> dict[str, Any]:
    return lines()


Source = Callable[..., KafkaSourceOperator]


def _waited_for(
    operator: KafkaSourceOperator, store: Store | None = None, meanwhile: Callable[[], None] = lambda: None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a triggerer makes of a deferred task: the event of its trigger, and what its next worker is given."""
    with pytest.raises(TaskDeferred) as deferred:
        operator.execute(context() | {"task_state_store": store or Store()})
    meanwhile()
    _, facts = deferred.value.trigger.serialize()
    event = asyncio.run(YarnApplicationTrigger(**facts).wait())
    return event, json.loads(json.dumps(deferred.value.kwargs))


@pytest.mark.exhaustive  # what comes back is as from spark-submit on any master
def test_the_driver_of_a_job_in_client_mode_is_here(
    connect: Connect, source: Source, config: dict[str, Any], bootstrap: str
) -> None:
    connect(**{"deploy-mode": "client"})
    report = source(config).execute(context())
    assert report is not None
    assert (report["records"]["written"], report["complete"]) == (2, True)
    assert read_values(bootstrap, config["topic"]) == [b"a", b"b"]


class TestClusterMode:
    def test_a_trigger_waits_and_the_report_comes_back_through_a_staging_folder(
        self, connect: Connect, source: Source, config: dict[str, Any], bootstrap: str, tmp_path: Path
    ) -> None:
        connect(**{"deploy-mode": "cluster", "staging": str(tmp_path / "staging")})
        event, kwargs = _waited_for(source(config, deferrable=True))
        report = source(config).execute_complete(context(), event, **kwargs)
        assert report is not None
        assert (report["records"]["written"], report["complete"]) == (2, True)
        assert read_values(bootstrap, config["topic"]) == [b"a", b"b"]
        assert list((tmp_path / "staging").rglob("*.json*")) == []

    @pytest.mark.exhaustive  # the same trigger
    def test_without_one_a_trigger_learns_that_it_has_succeeded_and_nothing_else(
        self, connect: Connect, source: Source, config: dict[str, Any], bootstrap: str
    ) -> None:
        connect(**{"deploy-mode": "cluster"})
        event, kwargs = _waited_for(source(config, deferrable=True))
        assert source(config).execute_complete(context(), event, **kwargs) is None
        assert read_values(bootstrap, config["topic"]) == [b"a", b"b"]


@needs_airflow_3_3
def test_a_retry_finds_its_application_and_a_kill_ends_it(
    connect: Connect, source: Source, config: dict[str, Any], yarn: YarnCluster
) -> None:
    connect(**{"deploy-mode": "cluster"})
    operator, application = source(config, deferrable=True), yarn.start("sleep 600")
    event, _ = _waited_for(operator, Store({"spark_job_id:0": application}), meanwhile=operator.on_kill)
    assert (event["job_id"], event["status"]) == (application, "killed")
