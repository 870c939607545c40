"""The example DAGs of object stores in Airflow itself; that of S3 runs, with a real broker, a real store and Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect import KafkaConnectHook
from airflow_kconnect.local.broker import EmbeddedBroker
from tests.airflow.test_catalog_connections import command_lines
from tests.airflow.test_database_connections import stored_by_airflow
from tests.support.airflow.dags import report_of
from tests.support.kafka import create_topic, produce
from tests.support.s3 import S3Server

_CONNECTIONS: dict[str, dict[str, Any]] = {
    "aws_lake": {"conn_type": "aws", "extra": {"region_name": "eu-west-1"}},
    "google_lake": {"conn_type": "google_cloud_platform", "extra": {"key_path": "/etc/google.json"}},
    "azure_lake": {"conn_type": "adls", "login": "id", "password": "s3cret", "extra": {"tenant_id": "tenant"}},
}
_SCHEMA = {"type": "struct", "fields": [{"type": "int64", "field": "id"}, {"type": "string", "field": "item"}]}


@pytest.fixture
def dags(airflow_database: Path, connections: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    from airflow.dag_processing.dagbag import DagBag

    for name, fields in _CONNECTIONS.items():
        monkeypatch.setenv(f"AIRFLOW_CONN_{name.upper()}", json.dumps(fields))
    bag = DagBag()
    assert bag.import_errors == {}
    return bag.dags


@pytest.mark.parametrize(
    ("dag_id", "tasks"),
    [("example_s3", ["write", "arrived", "read"]), ("example_google", ["write"]), ("example_azure", ["write"])],
)
def test_each_loads_and_its_connectors_are_valid(dags: Any, dag_id: str, tasks: list[str]) -> None:
    found = dags[dag_id].topological_sort()
    assert [task.task_id for task in found] == tasks
    for task in found:
        assert KafkaConnectHook().validate(task.connector)["connector"].startswith("example-orders-")


@pytest.mark.exhaustive
@pytest.mark.spark_submit
@pytest.mark.timeout(600)
def test_records_reach_s3_and_come_back_each_once_and_no_secret_shows(
    dags: Any,
    broker: EmbeddedBroker,
    store: S3Server,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    store.create_bucket("kconnect-example")
    keys: dict[str, Any] = {"conn_type": "aws", "login": store.access_key, "password": store.secret_key}
    keys |= {"extra": {"region_name": "us-east-1", "endpoint_url": store.url}}
    monkeypatch.setenv("AIRFLOW_CONN_AWS_LAKE", json.dumps(keys))
    create_topic(broker.bootstrap, "example-orders")
    create_topic(broker.bootstrap, "example-orders-again")

    written = []
    with command_lines() as commands:
        for numbers in (range(30), range(30, 40)):
            values = ({"schema": _SCHEMA, "payload": {"id": n, "item": f"item {n}"}} for n in numbers)
            produce(broker.bootstrap, "example-orders", [json.dumps(value) for value in values])
            run = dags["example_s3"].test()
            assert run.state == "success"
            written.append({task: report_of(run, task)["records"]["written"] for task in ("write", "read")})

    assert written == [{"write": 30, "read": 30}, {"write": 10, "read": 10}]
    assert commands
    assert store.secret_key not in "".join((*capfd.readouterr(), stored_by_airflow(), *commands))
