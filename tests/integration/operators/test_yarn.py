"""Operators whose jobs run on a real YARN: where the driver runs, what comes back, and what a kill ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import TaskDeferred

from airflow_kconnect import KafkaConnectorGroupOperator, KafkaSourceOperator
from airflow_kconnect.errors import ConnectorConfigError
from airflow_kconnect.triggers.spark_job import YarnApplicationTrigger
from tests.support import unique
from tests.support.airflow.operator_runs import context
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


def test_the_driver_of_a_job_in_client_mode_is_here(
    connect: Connect, source: Source, config: dict[str, Any], bootstrap: str
) -> None:
    connect(**{"deploy-mode": "client"})
    report = source(config).execute(context())
    assert report is not None
    assert (report["records"]["written"], report["complete"]) == (2, True)
    assert read_values(bootstrap, config["topic"]) == [b"a", b"b"]


class TestClusterMode:
    def test_the_report_comes_back_through_a_staging_folder(
        self, connect: Connect, source: Source, config: dict[str, Any], bootstrap: str, tmp_path: Path
    ) -> None:
        connect(**{"deploy-mode": "cluster", "staging": str(tmp_path / "staging")})
        report = source(config).execute(context() | {"task_state_store": Store()})
        assert report is not None
        assert (report["records"]["written"], report["complete"]) == (2, True)
        assert read_values(bootstrap, config["topic"]) == [b"a", b"b"]
        assert list((tmp_path / "staging").rglob("*.json*")) == []

    def test_without_one_a_trigger_learns_that_it_has_succeeded_and_nothing_else(
        self, connect: Connect, source: Source, config: dict[str, Any], bootstrap: str
    ) -> None:
        connect(**{"deploy-mode": "cluster"})
        with pytest.raises(TaskDeferred) as deferred:
            source(config, deferrable=True).execute(context())
        _, facts = deferred.value.trigger.serialize()
        event = asyncio.run(YarnApplicationTrigger(**facts).wait())
        assert (
            source(config).execute_complete(context(), event, **json.loads(json.dumps(deferred.value.kwargs))) is None
        )
        assert read_values(bootstrap, config["topic"]) == [b"a", b"b"]

    def test_a_killed_task_ends_its_application(
        self, connect: Connect, source: Source, config: dict[str, Any], yarn: YarnCluster, tmp_path: Path
    ) -> None:
        connect(**{"deploy-mode": "cluster", "staging": str(tmp_path / "staging")})
        operator = source(config, deferrable=True)
        with pytest.raises(TaskDeferred) as deferred:
            operator.execute(context())
        operator.on_kill()
        _, facts = deferred.value.trigger.serialize()
        event = asyncio.run(YarnApplicationTrigger(**facts).wait())
        assert event["status"] == "killed"

    @pytest.mark.exhaustive  # by the same mailbox as the report of one
    def test_each_connector_of_a_group_reports(
        self, connect: Connect, config: dict[str, Any], yarn: YarnCluster, worker_props: dict[str, str], tmp_path: Path
    ) -> None:
        connect(**{"deploy-mode": "cluster", "staging": str(tmp_path / "staging")})
        bad = config | {"name": unique("bad"), "file": "/nowhere/at/all"}
        operator = KafkaConnectorGroupOperator(
            task_id="all",
            connectors=[config, bad],
            worker_config=worker_props,
            kafka_conn_id=None,
            conf=yarn.conf(),
            driver_memory="512m",
        )
        given = context() | {"task_state_store": Store()}
        with pytest.raises(ConnectorConfigError, match="/nowhere/at/all"):
            operator.execute(given)
        assert given["kconnect"]["reports"][config["name"]]["records"]["written"] == 2
