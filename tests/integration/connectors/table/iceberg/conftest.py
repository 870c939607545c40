"""A table of Iceberg, and plans for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connectors.jdbc.driver.class_path import add_jar, application_loader
from airflow_kconnect.connectors.table.catalogs.keys import BUNDLES
from airflow_kconnect.connectors.table.formats.base import TableDefinition
from airflow_kconnect.connectors.table.formats.iceberg.patience import Patience
from airflow_kconnect.connectors.table.formats.iceberg.table import IcebergTable
from airflow_kconnect.machine import ivy
from airflow_kconnect.machine.java import find_java
from tests.support import unique
from tests.support.s3 import S3Server
from tests.support.spark.iceberg import columns, settings_of

MakeTable = Callable[..., IcebergTable]


class Impatient(IcebergTable):
    """Does not wait between its attempts."""

    patience = Patience(attempts=3, sleep=lambda _: None)


@pytest.fixture
def make_table(spark: SparkSession, lake: str) -> Iterator[MakeTable]:
    """Makes a table, unless ``create=False``: `make_table("id long, name string", keys=("id",))`."""
    made: list[IcebergTable] = []

    def make(
        ddl: str = "id long, name string", *, create: bool = True, catalog: str = lake, **more: Any
    ) -> IcebergTable:
        name = f"{catalog}.db.`{more.pop('name', None) or unique('t')}`"
        session = spark.newSession()  # as each connector has
        table = Impatient(session, name, settings_of(more.pop("settings", {})))
        if create:
            table.create(TableDefinition(columns(ddl), **more))
        made.append(table)
        return table

    yield make
    for table in made:  # without PURGE, which tables in Nessie do not allow
        table.spark.sql(f"DROP TABLE IF EXISTS {table.name}")


@pytest.fixture
def table(make_table: MakeTable) -> IcebergTable:
    """A table with the columns `id` and `name`."""
    return make_table()


@pytest.fixture
def keyed(make_table: MakeTable) -> IcebergTable:
    """A table whose rows `id` identifies."""
    return make_table(keys=("id",))


@pytest.fixture(scope="session")
def amazon(spark: SparkSession, lake: str) -> None:
    """The session has Amazon's classes."""
    jvm = spark._jvm
    assert jvm is not None
    for jar in ivy.resolve([BUNDLES["aws"]], java=find_java()).glob("*.jar"):
        add_jar(jvm, application_loader(jvm), jar)
    # The server of tests does not know the checksums with which new clients end uploads.
    jvm.java.lang.System.setProperty("aws.requestChecksumCalculation", "when_required")


@pytest.fixture(scope="module")
def store(amazon: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A store with the interface of S3."""
    server = S3Server(tmp_path_factory.mktemp("s3"))
    yield server
    server.remove()


def files_in(store: S3Server) -> dict[str, str]:
    """Settings of Iceberg for files in a store, without its keys."""
    return {
        "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "client.region": "us-east-1",
        "s3.endpoint": store.url,
        "s3.path-style-access": "true",
    }


def keys_of(store: S3Server) -> dict[str, str]:
    """Iceberg's settings with the keys of a store."""
    return {"s3.access-key-id": store.access_key, "s3.secret-access-key": store.secret_key}
