"""A store that a sink names by the id of an Airflow connection: its secret reaches it, and shows nowhere.

An Airflow and two Spark jobs are worth their time.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.local.broker import EmbeddedBroker
from tests.airflow.test_catalog_connections import command_lines, store
from tests.airflow.test_database_connections import stored_by_airflow
from tests.support import unique
from tests.support.airflow.dags import add_dag, report_of
from tests.support.kafka import create_topic, produce
from tests.support.s3 import S3Server

__all__ = ["store"]

DAG = """
from airflow.sdk import DAG

from airflow_kconnect import KafkaSinkOperator

with DAG({name!r}):
    KafkaSinkOperator(
        task_id="write",
        connector={{
            "name": "{name}",
            "connector.class": "DirectorySink",
            "topics": "{topic}",
            "directory": "{directory}",
            "kconnect.store.conn_id": "lake_store",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "false",
        }},
    )
"""


@pytest.mark.exhaustive
@pytest.mark.spark_submit
@pytest.mark.timeout(600)
def test_each_run_writes_what_is_new_once_and_no_secret_shows(
    airflow_database: Path,
    broker: EmbeddedBroker,
    connections: None,
    store: S3Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    name, bucket = unique("store"), store.create_bucket()
    topic = create_topic(broker.bootstrap, unique("orders"))
    keys: dict[str, Any] = {"conn_type": "aws", "login": store.access_key, "password": store.secret_key}
    keys |= {"extra": {"region_name": "us-east-1", "endpoint_url": store.url}}
    monkeypatch.setenv("AIRFLOW_CONN_LAKE_STORE", json.dumps(keys))
    directory = f"s3://{bucket}/raw"
    dag = add_dag(tmp_path / "dags", DAG.format(name=name, topic=topic, directory=directory))

    written = []
    with command_lines() as commands:
        for numbers in (range(20), range(20, 30)):
            produce(broker.bootstrap, topic, [json.dumps({"id": n}) for n in numbers])
            run = dag.test()
            assert run.state == "success"
            written.append(report_of(run, "write")["records"]["written"])

    lines = [line for file in store.file_of(directory).rglob("*.json") for line in file.read_text().splitlines()]
    assert written == [20, 10]
    assert sorted(json.loads(line)["id"] for line in lines) == list(range(30))
    assert commands
    assert store.secret_key not in "".join((*capfd.readouterr(), stored_by_airflow(), *commands))
