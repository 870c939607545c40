"""A table of Iceberg, and plans for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connectors.table.formats.base import TableDefinition
from airflow_kconnect.connectors.table.formats.iceberg.patience import Patience
from airflow_kconnect.connectors.table.formats.iceberg.table import IcebergTable
from tests.support import unique
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
        name = f"{catalog}.db.`{unique('t')}`"
        session = spark.newSession()  # as each connector has
        table = Impatient(session, name, settings_of(more.pop("settings", {})))
        if create:
            table.create(TableDefinition(columns(ddl), **more))
        made.append(table)
        return table

    yield make
    for table in made:
        table.spark.sql(f"DROP TABLE IF EXISTS {table.name} PURGE")


@pytest.fixture
def table(make_table: MakeTable) -> IcebergTable:
    """A table with the columns `id` and `name`."""
    return make_table()


@pytest.fixture
def keyed(make_table: MakeTable) -> IcebergTable:
    """A table whose rows `id` identifies."""
    return make_table(keys=("id",))
