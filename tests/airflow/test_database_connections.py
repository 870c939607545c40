"""Databases that connectors name by the id of an Airflow connection: Kafka to PostgreSQL, in Airflow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import unique
from tests.support.airflow.dags import add_dag, report_of
from tests.support.databases.postgres import PostgresServer
from tests.support.kafka import create_topic, produce

CANARY = "p@ss/w:rd ?#%é'\"-canary"

DAG = """
from airflow.sdk import DAG

from airflow_kconnect import KafkaSinkOperator

with DAG({name!r}):
    KafkaSinkOperator(
        task_id="write",
        connector={{
            "name": "{name}-sink",
            "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
            "connection.url": "${{airflow:warehouse:jdbc_url}}",
            "topics": {name!r},
            "table.name.format": "orders",
            "auto.create": "true",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        }},
    )
"""
FIELDS = [{"field": "id", "type": "int32"}, {"field": "what", "type": "string"}]


def stored_by_airflow() -> str:
    """Rendered fields, XComs and the DAG itself, as Airflow's database has them."""
    from airflow.models.renderedtifields import RenderedTaskInstanceFields
    from airflow.models.serialized_dag import SerializedDagModel
    from airflow.models.xcom import XComModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        found: list[object] = [row.rendered_fields for row in session.scalars(select(RenderedTaskInstanceFields))]
        found += [row.value for row in session.scalars(select(XComModel))]
        found += [row.data for row in session.scalars(select(SerializedDagModel))]
    return json.dumps(found, default=str)


@pytest.mark.spark_submit
@pytest.mark.timeout(600)
def test_a_table_is_written_by_the_id_of_a_connection_and_no_password_shows(
    airflow_database: Path,
    connections: None,
    bootstrap: str,
    postgres: PostgresServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    warehouse, name = postgres.create_database(), create_topic(bootstrap, unique("conn"))
    schema = {"type": "struct", "fields": FIELDS}
    rows = [{"id": 1, "what": "tea"}, {"id": 2, "what": "cake"}]
    produce(bootstrap, name, [json.dumps({"schema": schema, "payload": row}) for row in rows])
    user = name.replace("-", "_")
    quoted = CANARY.replace("'", "''")
    warehouse.execute(f"create role {user} login password '{quoted}'; grant create on schema public to {user}")
    fields: dict[str, Any] = {"host": "127.0.0.1", "port": warehouse.port, "schema": warehouse.name}
    fields |= {"login": user, "password": CANARY, "extra": {"sslmode": "disable", "application_name": "etl"}}
    monkeypatch.setenv("AIRFLOW_CONN_WAREHOUSE", json.dumps({"conn_type": "postgres", **fields}))

    run = add_dag(tmp_path / "dags", DAG.format(name=name)).test()
    logged = "".join(capfd.readouterr())

    assert run.state == "success", logged
    assert warehouse.execute("select id, what from orders order by id") == [(1, "tea"), (2, "cake")]
    assert report_of(run, "write")["records"]["written"] == 2
    assert "-canary" not in logged
    assert "-canary" not in stored_by_airflow()
    assert "${airflow:warehouse:jdbc_url}" in stored_by_airflow()


@pytest.mark.timeout(300)
def test_a_wrong_password_is_an_error_without_it(
    airflow_database: Path,
    connections: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Here the connection is of a type that has no JDBC URL; the error comes before Spark starts."""
    monkeypatch.setenv("AIRFLOW_CONN_WAREHOUSE", json.dumps({"conn_type": "ftp", "host": "x", "password": CANARY}))

    run = add_dag(tmp_path / "dags", DAG.format(name=unique("conn"))).test()
    logged = "".join(capfd.readouterr())

    assert run.state == "failed"
    assert "names the Airflow connection `warehouse`, which is of type `ftp`, expected one of: postgres" in logged
    assert "-canary" not in logged
