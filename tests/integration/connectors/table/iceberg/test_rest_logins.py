"""REST catalogs that want a login, and that bring the keys of the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connectors.table.catalogs.catalogs import use_catalog
from airflow_kconnect.connectors.table.settings import CatalogSettings
from tests.integration.connectors.table.iceberg.conftest import MakeTable, files_in, keys_of
from tests.support import unique
from tests.support.catalogs.logins import Logins
from tests.support.kafka import eventually
from tests.support.s3 import S3Server
from tests.support.spark.iceberg import append, found, merge, use
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


@pytest.fixture
def vending(spark: SparkSession, store: S3Server) -> Iterator[RestCatalog]:
    """A server whose tables are in a store, and which has its keys for clients."""
    server = RestCatalog(spark, f"s3://{store.create_bucket()}", **files_in(store), **keys_of(store))
    server.vended = keys_of(store)
    server.start()
    yield server
    server.stop()


def test_a_client_gets_a_token_by_its_id_and_secret(
    rest: RestCatalog, logins: Logins, make_table: MakeTable, spark: SparkSession
) -> None:
    table = make_table(catalog=use(spark, {**rest.conf, "credential": logins.credential}))
    append(table, 1, (1, "a"))
    assert found(table) == [(1, "a")]


def test_tokens_that_expire_are_renewed_while_a_run_lasts(
    rest: RestCatalog, logins: Logins, make_table: MakeTable, spark: SparkSession
) -> None:
    logins.lifetime_s = 10.0
    table = make_table(catalog=use(spark, {**rest.conf, "credential": logins.credential}))
    append(table, 1, (1, "a"))
    first, *_ = logins.issued
    assert eventually(lambda: len(logins.issued) > 1, True)
    del logins.issued[first]
    append(table, 2, (2, "b"))
    assert found(table) == [(1, "a"), (2, "b")]


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


def test_a_run_uses_the_secret_that_the_client_has_by_then(
    spark: SparkSession, rest: RestCatalog, logins: Logins
) -> None:
    def load() -> None:
        name = unique("catalog").replace("-", "_")
        conf = {**rest.conf, "credential": credential}
        use_catalog(session, CatalogSettings(name, conf))

    session, credential = spark.newSession(), logins.credential
    load()
    logins.clients = dict.fromkeys(logins.clients, unique("rotated"))
    logins.issued.clear()
    with pytest.raises(ConfigError) as error:
        load()
    assert credential.partition(":")[2] not in str(error.value)
    credential = logins.credential
    load()


@pytest.mark.exhaustive  # Amazon's classes have 69 MB
def test_keys_of_the_store_come_from_the_catalog_if_they_are_asked_for(
    vending: RestCatalog, store: S3Server, make_table: MakeTable, spark: SparkSession
) -> None:
    conf = {**vending.conf, **files_in(store), "header.X-Iceberg-Access-Delegation": "vended-credentials"}
    table = make_table(catalog=use(spark, conf), keys=("id",))
    append(table, 1, (1, "a"), (2, "b"))
    merge(table, 2, (1, "new", False), (2, None, True))
    assert found(table) == [(1, "new")]
    vending.vended = {**vending.vended, "s3.secret-access-key": "revoked"}
    with pytest.raises(ConfigError, match="access is refused"):
        append(table, 3, (3, "c"))
    vending.vended = keys_of(store)
