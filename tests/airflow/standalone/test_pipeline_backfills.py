"""A backfill of `source >> sink` in a whole Airflow: damaged rows of the target are as in the source again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import unique
from tests.support.airflow.standalone import ConnectorDag, StandaloneAirflow
from tests.support.databases.postgres import PostgresDatabase, PostgresServer

_DAG_ID = "shop_mirror"
_DAG = """
from datetime import datetime

from airflow.sdk import DAG, CronDataIntervalTimetable

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator

WORKER = {{"offset.storage.replication.factor": "-1"}}

with DAG(
    {dag_id!r},
    schedule=CronDataIntervalTimetable("0 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
):
    read = KafkaSourceOperator(task_id="read", connector={source!r}, worker_config=WORKER)
    write = KafkaSinkOperator(task_id="write", connector={sink!r}, worker_config=WORKER)
    read >> write
"""
_ROWS = """
create table orders (id int primary key, item text, updated timestamptz not null);
insert into orders select n, 'item ' || n, timestamptz '2026-01-01 00:00Z' + n * interval '6 minutes'
from generate_series(0, 29) n
"""


@pytest.fixture
def shop(airflow: StandaloneAirflow, postgres: PostgresServer) -> Iterator[PostgresDatabase]:
    """A database with ten orders in each of three hours, and the DAG that mirrors them."""
    database, name = postgres.create_database(), unique("mirror")
    with database.connect() as connection:
        connection.execute(_ROWS)
    login = {
        "connection.url": database.url,
        "connection.user": database.user,
        "connection.password": database.password,
    }
    source = {
        **{"name": f"{name}-source", "connector.class": "JdbcSource", **login},
        **{"table.whitelist": "orders", "mode": "timestamp", "timestamp.column.name": "updated"},
        "topic.prefix": f"{name}-",
    }
    sink = {
        **{"name": f"{name}-sink", "connector.class": "JdbcSink", **login, "topics": f"{name}-orders"},
        **{"table.name.format": "copy", "insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id"},
        "auto.create": "true",
    }
    (airflow.dags / f"{_DAG_ID}.py").write_text(_DAG.format(dag_id=_DAG_ID, source=source, sink=sink))
    yield database
    ConnectorDag.of_file(airflow, _DAG_ID, "write").pause()


def _rows(shop: PostgresDatabase, table: str) -> list[Any]:
    with shop.connect() as connection:
        return list(connection.execute(f"select id, item from {table} order by id").fetchall())


@pytest.mark.spark_submit
@pytest.mark.timeout(900)
def test_a_backfill_of_a_source_and_a_sink_repairs_its_interval_in_the_target(
    airflow: StandaloneAirflow, shop: PostgresDatabase
) -> None:
    dag = ConnectorDag.of_file(airflow, _DAG_ID, "write")
    (live,) = dag.wait_for_runs("scheduled", 1)
    assert (live["state"], _rows(shop, "copy")) == ("success", _rows(shop, "orders")), airflow.text()[-5000:]
    with shop.connect() as connection:
        connection.execute("update copy set item = 'DAMAGED'")

    interval = {"from_date": "2026-01-01T01:00:00Z", "to_date": "2026-01-01T01:00:00Z"}
    airflow.ask("POST", "/api/v2/backfills", {"dag_id": _DAG_ID, **interval, "max_active_runs": 1})
    (backfill,) = dag.wait_for_runs("backfill", 1)

    report = dag.report(backfill)
    assert (backfill["state"], report["records"]["written"], report["warnings"]) == ("success", 10, [])
    repaired = [
        row for row, original in zip(_rows(shop, "copy"), _rows(shop, "orders"), strict=True) if row == original
    ]
    assert [row[0] for row in repaired] == list(range(10, 20))
