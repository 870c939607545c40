"""The example DAG of PostgreSQL in Airflow itself, with the database that docker/compose.yaml creates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.airflow.dags import report_of
from tests.support.databases.postgres import PostgresDatabase, PostgresServer
from tests.support.pages.markdown import REPOSITORY


@pytest.fixture
def shop(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> PostgresDatabase:
    """A database with the rows of docker/shop.sql, and Airflow's connection to it."""
    database = postgres.create_database()
    with database.connect() as connection:
        connection.execute((REPOSITORY / "docker" / "shop.sql").read_text())
    url = urlsplit(database.url.removeprefix("jdbc:"))
    shop = {"conn_type": "postgres", "host": url.hostname, "port": url.port, "schema": database.name}
    shop |= {"login": database.user, "password": database.password}
    monkeypatch.setenv("AIRFLOW_CONN_SHOP", json.dumps(shop))
    return database


@pytest.mark.exhaustive  # the demo's table takes the same way
@pytest.mark.spark_submit
@pytest.mark.timeout(600)
def test_copies_a_table_and_the_second_run_only_what_is_new(
    airflow_database: Path, connections: None, shop: PostgresDatabase
) -> None:
    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag()
    assert bag.import_errors == {}
    dag = bag.dags["example_postgres_pipeline"]

    assert _written(dag) == {"read_orders": 1000, "write_orders": 1000}
    with shop.connect() as connection:
        connection.execute("insert into orders (item) values ('salt')")
    assert _written(dag) == {"read_orders": 1, "write_orders": 1}
    assert _rows(shop, "orders_copy") == _rows(shop, "orders")


def _written(dag: Any) -> dict[str, int]:
    """Records written per task of one more run."""
    run = dag.test()
    assert run.state == "success"
    reports = {task_id: report_of(run, task_id) for task_id in dag.task_ids}
    assert {report["guarantee"] for report in reports.values()} == {"exactly_once"}
    return {task_id: report["records"]["written"] for task_id, report in reports.items()}


def _rows(database: PostgresDatabase, table: str) -> list[tuple[Any, ...]]:
    with database.connect() as connection:
        query = f"select id, item, quantity from {table} order by id"
        return list(connection.execute(query).fetchall())
