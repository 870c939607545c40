"""A replay of `source >> sink` in Airflow itself: damaged rows of the target are as in the source again.

That a backfill is such a run: `standalone/test_backfills.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support import unique
from tests.support.airflow.dags import add_dag, report_of
from tests.support.databases.postgres import PostgresDatabase, PostgresServer

_DAG = """
from airflow.sdk import DAG

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator, run_params

with DAG({name!r}, params=run_params()):
    KafkaSourceOperator(task_id="read", connector={source!r}) >> KafkaSinkOperator(task_id="write", connector={sink!r})
"""
_ROWS = """
create table orders (id int primary key, item text, updated timestamptz not null);
insert into orders select n, 'item ' || n, timestamptz '2026-01-01 00:00Z' + n * interval '6 minutes'
from generate_series(0, 29) n;
create table copy as select id, 'DAMAGED' as item, updated from orders;
alter table copy add primary key (id)
"""


@pytest.fixture
def shop(postgres: PostgresServer) -> PostgresDatabase:
    """A database with ten orders in each of three hours, and a copy of which nothing is right."""
    database = postgres.create_database()
    database.execute(_ROWS)
    return database


@pytest.fixture
def mirror(airflow_database: Path, connections: None, shop: PostgresDatabase, tmp_path: Path) -> Any:
    """The DAG that mirrors the orders."""
    name = unique("mirror")
    login = {"connection.url": shop.url, "connection.user": shop.user, "connection.password": shop.password}
    source = {
        **{"name": f"{name}-source", "connector.class": "JdbcSource", **login},
        **{"table.whitelist": "orders", "mode": "timestamp", "timestamp.column.name": "updated"},
        "topic.prefix": f"{name}-",
    }
    sink = {
        **{"name": f"{name}-sink", "connector.class": "JdbcSink", **login, "topics": f"{name}-orders"},
        **{"table.name.format": "copy", "insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id"},
    }
    return add_dag(tmp_path / "dags", _DAG.format(name=name, source=source, sink=sink))


def _rows(shop: PostgresDatabase, table: str) -> list[Any]:
    return shop.execute(f"select id, item from {table} order by id")


@pytest.mark.spark_submit
@pytest.mark.timeout(600)
def test_a_replay_of_a_source_and_a_sink_repairs_its_interval_in_the_target(
    mirror: Any, shop: PostgresDatabase
) -> None:
    interval = {"from": "2026-01-01T01:00:00Z", "to": "2026-01-01T02:00:00Z"}
    replay = mirror.test(run_conf={"mode": "replay", **interval})

    report = report_of(replay, "write")
    assert (replay.state, report["records"]["written"], report["warnings"]) == ("success", 10, [])
    repaired = [
        row for row, original in zip(_rows(shop, "copy"), _rows(shop, "orders"), strict=True) if row == original
    ]
    assert [row[0] for row in repaired] == list(range(10, 20))
