"""A catalog that a sink names by ids of Airflow connections: its secrets reach it, and show nowhere.

Needs a PySpark that Iceberg has been released for; two Spark jobs, PostgreSQL and a server of S3 are worth their time.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.table.formats.registry import ICEBERG
from airflow_kconnect.connectors.table.packages import needs_of
from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.machine.spark_home import spark_home
from airflow_kconnect.submit.spark import jars_version
from tests.airflow.test_database_connections import stored_by_airflow
from tests.support import unique
from tests.support.airflow.dags import add_dag, report_of
from tests.support.connect.iceberg import ids
from tests.support.databases.postgres import PostgresServer
from tests.support.kafka import create_topic, produce
from tests.support.s3 import S3Server
from tests.support.spark.jobs import command_of

SCHEMA = {"type": "struct", "fields": [{"field": "id", "type": "int64"}]}

DAG = """
from airflow.sdk import DAG

from airflow_kconnect import KafkaSinkOperator

with DAG({name!r}):
    KafkaSinkOperator(
        task_id="write",
        connector={{
            "name": "{name}",
            "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
            "topics": "{topic}",
            "iceberg.tables": "shop.orders",
            "iceberg.tables.auto-create-enabled": "true",
            "iceberg.catalog.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
            "iceberg.catalog.s3.path-style-access": "true",
            "kconnect.catalog.conn_ids": "lake,lake_store",
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        }},
        conf={{
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": "file://{events}",
        }},
    )
"""


@pytest.fixture(scope="module", autouse=True)
def released() -> None:
    """There is an Iceberg for this Spark."""
    home = spark_home()
    assert home is not None
    try:
        needs_of(ICEBERG, jars_version(home) or "")
    except ConfigError as error:
        pytest.skip(str(error))


@contextmanager
def command_lines() -> Iterator[set[str]]:
    """Those of all processes that this one starts within the block."""
    seen, is_over = set[str](), threading.Event()

    def look() -> None:
        while not is_over.wait(0.1):
            seen.update(command_of(process) for process in psutil.Process().children(recursive=True))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        is_over.set()
        thread.join()


@pytest.mark.exhaustive
@pytest.mark.spark_submit
@pytest.mark.timeout(600)
def test_each_run_writes_what_is_new_once_and_no_secret_shows(
    airflow_database: Path,
    broker: EmbeddedBroker,
    connections: None,
    postgres: PostgresServer,
    store: S3Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    database, name, events = postgres.create_database(), unique("lake"), tmp_path / "events"
    events.mkdir()
    topic = create_topic(broker.bootstrap, unique("orders"))
    warehouse = f"s3://{store.create_bucket()}/warehouse"
    lake: dict[str, Any] = {
        "conn_type": "iceberg",
        "host": database.url,
        "extra": {"type": "jdbc", "warehouse": warehouse},
    }
    lake |= {"login": database.user, "password": database.password}
    keys: dict[str, Any] = {"conn_type": "aws", "login": store.access_key, "password": store.secret_key}
    keys |= {"extra": {"region_name": "us-east-1", "endpoint_url": store.url}}
    monkeypatch.setenv("AIRFLOW_CONN_LAKE", json.dumps(lake))
    monkeypatch.setenv("AIRFLOW_CONN_LAKE_STORE", json.dumps(keys))
    # The server does not know the checksums with which new clients end uploads.
    monkeypatch.setenv("AWS_REQUEST_CHECKSUM_CALCULATION", "when_required")
    dag = add_dag(tmp_path / "dags", DAG.format(name=name, topic=topic, events=events))

    written = []
    with command_lines() as commands:
        for numbers in (range(20), range(20, 30)):
            values = [json.dumps({"schema": SCHEMA, "payload": {"id": n}}) for n in numbers]
            produce(broker.bootstrap, topic, values)
            run = dag.test()
            assert run.state == "success"
            written.append(report_of(run, "write")["records"]["written"])

    [(metadata,)] = database.execute("select metadata_location from iceberg_tables where table_name = 'orders'")
    assert written == [20, 10]
    assert ids(store.file_of(metadata), store.file_of) == dict.fromkeys(range(30), 1)
    log = "".join(path.read_text(errors="replace") for path in events.rglob("*") if path.is_file())
    assert "SparkListenerSQLExecutionStart" in log
    assert any("java" in command for command in commands)
    shown = "".join((*capfd.readouterr(), log, stored_by_airflow(), *commands))
    assert [secret for secret in (str(database.password), store.secret_key) if secret in shown] == []
