"""Catalogs of Iceberg: what a table does is the same in each, and their failures say whether to retry.

Tables in a catalog of PostgreSQL and in one with REST do all that a connector needs: worth 30 CPU seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import types as T

from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.connectors.jdbc.driver.class_path import add_jar, application_loader
from airflow_kconnect.connectors.jdbc.driver.drivers import DRIVERS, driver_jars
from airflow_kconnect.connectors.table.columns.evolution import Change
from tests.integration.connectors.table.iceberg.conftest import MakeTable
from tests.support.databases.postgres import PostgresServer
from tests.support.spark.iceberg import append, check, found, merge, plan, rows, twin, use
from tests.support.spark.rest_catalog import RestCatalog


@pytest.fixture(scope="module")
def rest(spark: SparkSession, lake: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestCatalog]:
    server = RestCatalog(spark, tmp_path_factory.mktemp("rest"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def working(rest: RestCatalog) -> Iterator[RestCatalog]:
    """The server; after the test it works again."""
    yield rest
    rest.fails, rest.loses_answers = lambda method, path: None, False


@pytest.fixture(scope="module")
def jdbc_conf(
    spark: SparkSession, lake: str, postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """Settings of a catalog in a database of PostgreSQL."""
    jvm = spark._jvm
    assert jvm is not None
    loader = application_loader(jvm)
    for jar in driver_jars(DRIVERS["postgresql"]):
        add_jar(jvm, loader, jar)
    jvm.java.lang.Class.forName(DRIVERS["postgresql"].class_name, True, loader)
    database = postgres.create_database()
    return {
        "": "org.apache.iceberg.spark.SparkCatalog",
        "type": "jdbc",
        "uri": f"jdbc:postgresql://127.0.0.1:{database.port}/{database.name}",
        "jdbc.user": database.user or "",
        "jdbc.password": database.password or "",
        "jdbc.schema-version": "V1",
        "warehouse": str(tmp_path_factory.mktemp("jdbc")),
    }


def test_a_catalog_in_postgresql(make_table: MakeTable, spark: SparkSession, jdbc_conf: dict[str, str]) -> None:
    check(make_table(catalog=use(spark, jdbc_conf), keys=("id",)))


def test_a_catalog_with_rest(make_table: MakeTable, spark: SparkSession, working: RestCatalog) -> None:
    check(make_table(catalog=use(spark, working.conf), keys=("id",)))


def test_a_wrong_password_is_an_error_of_the_configuration(
    make_table: MakeTable, spark: SparkSession, jdbc_conf: dict[str, str]
) -> None:
    name = use(spark, {**jdbc_conf, "jdbc.password": "wrong"})
    with pytest.raises(ConfigError, match="access is refused"):
        make_table(catalog=name)


def test_a_commit_whose_answer_was_lost_is_found(
    make_table: MakeTable, spark: SparkSession, working: RestCatalog
) -> None:
    table = make_table(catalog=use(spark, working.conf))
    table.append(plan(1), rows(table, [(1, "a")]))
    working.loses_answers = True
    assert table.publish(plan(1))["records"] == 1
    working.loses_answers = False
    assert found(table) == [(1, "a")]


@pytest.mark.parametrize("status, kind", [(503, RetriableError), (403, ConfigError), (401, ConfigError)])
def test_a_catalog_that_fails_says_whether_to_retry(
    make_table: MakeTable, spark: SparkSession, working: RestCatalog, status: int, kind: type[Exception]
) -> None:
    table = make_table(catalog=use(spark, working.conf))
    table.append(plan(1), rows(table, [(1, "a")]))
    working.fails = lambda method, path: status if path.startswith("/v1/namespaces") else None
    for attempt in (
        table.columns,
        lambda: table.has(plan(1)),
        lambda: twin(table).publish(plan(1)) or table.publish(plan(1)),
    ):
        with pytest.raises(kind) as error:
            attempt()
        assert "\n" not in str(error.value) and table.name in str(error.value)


def test_a_catalog_that_cannot_be_reached_is_unavailable(make_table: MakeTable, spark: SparkSession, lake: str) -> None:
    conf = {
        "": "org.apache.iceberg.spark.SparkCatalog",
        "type": "rest",
        "uri": "http://127.0.0.1:9",
        "rest.client.max-retries": "1",
    }
    with pytest.raises((RetriableError, ConfigError), match=r"unavailable|cannot be used"):
        make_table(catalog=use(spark, conf))


def test_a_user_who_may_not_write_is_an_error_of_the_configuration(
    make_table: MakeTable, spark: SparkSession, working: RestCatalog
) -> None:
    table = make_table(catalog=use(spark, working.conf))
    working.fails = lambda method, path: 403 if method == "POST" else None
    with pytest.raises(ConfigError, match="access is refused"):
        table.change([Change("add", ("more",), T.LongType())])
    with pytest.raises(ConfigError, match="access is refused"):
        append(table, 1, (1, "a"))


def test_a_file_that_is_missing_is_named(make_table: MakeTable, tmp_path: Path) -> None:
    table = make_table(keys=("id",))
    append(table, 1, (1, "a"))
    for row in table.spark.table(f"{table.name}.files").collect():
        Path(row.file_path.removeprefix("file:")).unlink()
    with pytest.raises(DataError, match="is missing"):
        merge(table, 2, (1, "b", False))
