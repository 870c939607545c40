"""Plans and rows for tests with a table of Iceberg, and what other writers do to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from airflow_kconnect.connect.connector.planned import SinkPlan
from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connectors.table.columns.evolution import Change
from airflow_kconnect.connectors.table.formats.base import Table
from airflow_kconnect.connectors.table.formats.iceberg.table import IcebergTable
from airflow_kconnect.connectors.table.settings import Routing, TableSettings
from tests.support import unique

APPLICATION = "orders-0123456789ab"


def settings_of(more: Mapping[str, Any]) -> TableSettings:
    """Settings of a connector that says nothing but its format."""
    return TableSettings(connector="orders", format="iceberg", catalog=None, routing=Routing(), **more)


def columns(ddl: str) -> T.StructType:
    """Columns in Spark's short form, such as ``id long, name string``."""
    found = T.StructType.fromDDL(ddl)
    assert isinstance(found, T.StructType)
    return found


def plan(number: int, application: str = APPLICATION) -> SinkPlan:
    """A plan; what it is about does not matter to a table."""
    return SinkPlan(application, number, (SinkSplit("orders", 0, 10 * number, 10 * number + 10),))


def rows(table: Table, values: Sequence[tuple[Any, ...]], ddl: str = "id long, name string") -> DataFrame:
    """Rows in the table's session."""
    return table.spark.createDataFrame(list(values), ddl)


def append(table: Table, number: int, *values: tuple[Any, ...], application: str = APPLICATION) -> dict[str, Any]:
    """Write a plan that appends, and publish it."""
    table.append(plan(number, application), rows(table, values))
    return table.publish(plan(number, application))


def merge(table: Table, number: int, *values: tuple[Any, ...], keys: Sequence[str] = ("id",)) -> dict[str, Any]:
    """Write a plan that merges (id, name, gone), and publish it."""
    table.merge(plan(number), changes(table, *values), keys, "gone")
    return table.publish(plan(number))


def changes(table: Table, *values: tuple[Any, ...]) -> DataFrame:
    """Rows (id, name, gone) to merge."""
    return rows(table, values, "id long, name string, gone boolean")


def found(table: Table) -> list[tuple[Any, ...]]:
    """All rows that readers see, sorted."""
    return sorted(tuple(row) for row in table.spark.table(table.name).collect())


def as_other(table: Table, statement: str) -> None:
    """A statement of another session, with ``{t}`` for the table."""
    table.spark.newSession().sql(statement.format(t=table.name))


def twin(table: IcebergTable) -> IcebergTable:
    """The same table in another process, as far as it can know."""
    return type(table)(table.spark.newSession(), table.name, table.settings)


def metadata(table: IcebergTable) -> Any:
    """Iceberg's own `Table`."""
    return table._access.table()


def use(spark: SparkSession, conf: dict[str, str]) -> str:
    """The name of a catalog with these settings, for all sessions that are made from now on."""
    name = unique("catalog").replace("-", "_")
    of_all = spark._jsparkSession.sharedState().conf()
    for key, value in conf.items():
        of_all.set(".".join(filter(None, ("spark.sql.catalog", name, key))), value)
    return name


def check(table: IcebergTable) -> None:
    """All that a connector does with a table."""
    assert append(table, 1, (1, "a"), (2, "b"))["records"] == 2
    table.change([Change("add", ("more",), T.LongType())])
    merge(table, 2, (1, "new", False), (2, None, True))
    late = twin(table)
    table.append(plan(3), rows(table, [(3, "c")]))
    late.append(plan(3), rows(late, [(3, "c")]))
    as_other(table, "INSERT INTO {t} VALUES (9, 'z', NULL)")
    assert late.publish(plan(3)) and table.publish(plan(3)) == {}
    assert found(table) == [(1, "new", None), (3, "c", None), (9, "z", None)]
    assert table.last_plan(APPLICATION) == 3
