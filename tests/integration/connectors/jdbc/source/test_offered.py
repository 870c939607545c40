"""What a database offers to a form: a test of the connection, tables, columns."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connectors.jdbc.driver.gateway import connect
from airflow_kconnect.connectors.jdbc.source import offering, session
from airflow_kconnect.runtime import checking
from airflow_kconnect.runtime.checking import checked
from tests.integration.connectors.jdbc.conftest import CONFLUENT, SourceConfig
from tests.support.databases.postgres import PostgresDatabase
from tests.support.databases.servers import SqliteDatabase

WORKER = {"bootstrap.servers": "localhost:9092"}


@pytest.fixture(autouse=True)
def jvm(spark: SparkSession) -> None:
    """The JVM of the tests' session."""


@pytest.fixture
def shop(db: PostgresDatabase) -> PostgresDatabase:
    """A database with two tables."""
    db.execute("create table orders (id bigint primary key, total numeric(8, 2), updated_at timestamptz not null)")
    db.execute("create table customers (number int primary key, name text, born date, seen timestamp)")
    return db


def of_connection(db: PostgresDatabase, **more: str) -> dict[str, Any]:
    """The test of a configuration that is not complete."""
    return checked({"name": "shop", "connector.class": CONFLUENT, **db.config, **more}, WORKER, None)


def test_a_configuration_that_is_not_complete_is_connected_with(shop: PostgresDatabase) -> None:
    answer = of_connection(shop)
    assert (answer["errors"], answer["problem"], answer["complete"]) == ({}, None, False)
    assert answer["choices"] == {
        "table.whitelist": ["public.customers", "public.orders"],
        "table.blacklist": ["public.customers", "public.orders"],
        "timestamp.column.name": ["seen", "updated_at"],
        "incrementing.column.name": ["number", "id"],
    }


def test_columns_are_those_of_the_chosen_tables(shop: PostgresDatabase) -> None:
    choices = of_connection(shop, **{"table.whitelist": "orders"})["choices"]
    assert (choices["timestamp.column.name"], choices["incrementing.column.name"]) == (["updated_at"], ["id"])


def test_a_bounded_number_of_tables_is_listed(shop: PostgresDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offering, "MOST_TABLES", 1)
    assert of_connection(shop)["choices"]["table.whitelist"] == ["public.customers"]


def test_a_complete_configuration_is_checked_as_by_a_run(shop: PostgresDatabase, jdbc_source: SourceConfig) -> None:
    assert checked(jdbc_source(shop, mode="bulk"), WORKER, None)["complete"]
    answer = checked(jdbc_source(shop, **{"mode": "bulk", "table.whitelist": "ordres"}), WORKER, None)
    assert "did you mean orders?" in answer["errors"]["table.whitelist"][0]
    assert answer["choices"]["table.whitelist"]


def test_a_refused_login_is_an_error_of_its_keys_and_does_not_show_values(
    shop: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DB_PASSWORD", "geheimnis")
    answer = of_connection(shop, **{"connection.password": "${env:DB_PASSWORD}"})
    assert set(answer["errors"]) <= {"connection.password", "connection.user"}
    assert answer["errors"]
    assert "geheimnis" not in str(answer)


def test_a_database_that_does_not_answer_is_told_at_once(shop: PostgresDatabase) -> None:
    answer = of_connection(shop, **{"connection.url": "jdbc:postgresql://127.0.0.1:1/shop", "connection.attempts": "9"})
    assert "127.0.0.1:1" in answer["problem"]


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ({"connection.url": "jdbc:sqlite:/x?enable_load_extension=true"}, "connection.url"),
        ({"connection.socketFactory": "org.evil.Factory"}, "connection.socketFactory"),
        ({"kconnect.jdbc.driver.path": "/tmp/evil.jar"}, "kconnect.jdbc.driver.path"),
    ],
)
def test_what_a_run_would_refuse_is_refused_before_anything_connects(
    more: dict[str, str], key: str, shop: PostgresDatabase
) -> None:
    answer = of_connection(shop, **more)
    assert list(answer["errors"]) == [key]
    assert answer["choices"] == {}


def test_time_to_look_for_columns_is_counted_from_the_connection_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*arguments: Any) -> Any:
        time.sleep(2.5)
        return connect(*arguments)

    monkeypatch.setattr(session, "connect", slow)
    monkeypatch.setattr(checking, "_LOOKING_S", 2.0)
    db = SqliteDatabase.create(tmp_path)
    db.execute("create table orders (id integer primary key, at timestamp)")
    answer = checked({"connector.class": CONFLUENT, **db.config}, WORKER, None)
    assert answer["choices"]["timestamp.column.name"] == ["at"]


def test_tables_of_a_database_without_schemas(tmp_path: Path) -> None:
    db = SqliteDatabase.create(tmp_path)
    db.execute("create table orders (id integer primary key, at timestamp)")
    answer = checked({"connector.class": CONFLUENT, **db.config}, WORKER, None)
    assert answer["choices"]["table.whitelist"] == ["orders"]
    assert answer["choices"]["timestamp.column.name"] == ["at"]
