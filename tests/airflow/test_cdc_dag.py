"""The example DAG of change data capture in Airflow itself: after each run the copy equals the table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.local.broker import EmbeddedBroker
from tests.support.airflow.dags import report_of
from tests.support.connect.debezium import debezium_folder
from tests.support.databases.postgres import PostgresDatabase, PostgresServer
from tests.support.databases.slots import drop_slots


@pytest.fixture
def shop(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresDatabase]:
    """A database with a table of orders, and Airflow's connection to it."""
    database = postgres.create_database()
    database.execute("create table orders (id int primary key, item text not null, quantity int)")
    database.execute("insert into orders select n, 'item ' || n, n % 5 from generate_series(1, 500) as n")
    shop = {"conn_type": "postgres", "host": "127.0.0.1", "port": database.port, "schema": database.name}
    shop |= {"login": database.user, "password": database.password}
    monkeypatch.setenv("AIRFLOW_CONN_SHOP", json.dumps(shop))
    yield database
    drop_slots(database)


@pytest.fixture
def plugins(broker: EmbeddedBroker, connections: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debezium is installed in a folder of this test, which the Kafka connection names."""
    extra = {"group_id": "kconnect-cdc", "plugin.path": str(debezium_folder(tmp_path / "plugins"))}
    kafka = {"conn_type": "kconnect", "host": broker.bootstrap, "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps(kafka))
    # The JVM of the runs is the product's own: its optimising compiler would take longer than the records.
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")


@pytest.mark.exhaustive  # in CI: capture in `tried/test_debezium.py`, the copy in `sink/test_jdbc_sink.py`
@pytest.mark.spark_submit
@pytest.mark.timeout(600)
def test_the_copy_equals_the_table_after_each_run(
    airflow_database: Path, plugins: None, shop: PostgresDatabase
) -> None:
    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag()
    assert bag.import_errors == {}
    dag = bag.dags["example_cdc"]

    assert _run(dag) == 500
    assert _rows(shop, "orders_copy") == _rows(shop, "orders")

    shop.execute("update orders set quantity = quantity + 100 where id <= 10")
    shop.execute("delete from orders where id between 11 and 15")
    shop.execute("insert into orders values (501, 'new', null), (502, 'and gone', 1)")
    shop.execute("delete from orders where id = 502")
    # 10 updates, 2 inserts, 6 deletions; the tombstones that follow deletions are dropped.
    assert _run(dag) == 18
    assert _rows(shop, "orders_copy") == _rows(shop, "orders")


def _run(dag: Any) -> int:
    """One more run; how many records the sink has written."""
    run = dag.test()
    assert run.state == "success"
    reports = {task_id: report_of(run, task_id) for task_id in dag.task_ids}
    assert reports["capture"]["guarantee"] == "exactly_once"
    return int(reports["copy"]["records"]["written"])


def _rows(database: PostgresDatabase, table: str) -> list[tuple[Any, ...]]:
    return database.execute(f"select id, item, quantity from {table} order by id")
