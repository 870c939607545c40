"""REST catalogs that want a login, and that bring the keys of the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from tests.integration.connectors.table.iceberg.conftest import MakeTable
from tests.support.catalogs.logins import Logins
from tests.support.spark.iceberg import append, found, use
from tests.support.spark.rest_catalog import RestCatalog


@pytest.fixture
def logins() -> Logins:
    return Logins()


@pytest.fixture
def rest(spark: SparkSession, lake: str, logins: Logins, tmp_path: Path) -> Iterator[RestCatalog]:
    server = RestCatalog(spark, tmp_path)
    server.logins = logins
    server.start()
    yield server
    server.stop()


def test_a_client_gets_a_token_by_its_id_and_secret(
    rest: RestCatalog, logins: Logins, make_table: MakeTable, spark: SparkSession
) -> None:
    table = make_table(catalog=use(spark, {**rest.conf, "credential": logins.credential}))
    append(table, 1, (1, "a"))
    assert found(table) == [(1, "a")]


def test_a_token_that_has_expired_can_be_tried_again(
    rest: RestCatalog, logins: Logins, make_table: MakeTable, spark: SparkSession
) -> None:
    table = make_table(catalog=use(spark, {**rest.conf, "credential": logins.credential}))
    valid, logins.issued = logins.issued, dict.fromkeys(logins.issued, 0.0)
    with pytest.raises(RetriableError, match=r"the token has expired.*the next run"):
        append(table, 1, (1, "a"))
    logins.issued = valid


def test_a_token_that_is_unknown_is_an_error_of_the_configuration(
    rest: RestCatalog, logins: Logins, make_table: MakeTable, spark: SparkSession
) -> None:
    table = make_table(catalog=use(spark, {**rest.conf, "token": logins.new_token()}))
    append(table, 1, (1, "a"))
    valid, logins.issued = logins.issued, {}
    with pytest.raises(ConfigError, match="access is refused"):
        append(table, 2, (2, "b"))
    logins.issued = valid
