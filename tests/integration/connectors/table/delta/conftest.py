"""Delta tables of tests, and sinks that write them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.connector.planned import SinkPlan
from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connectors.table.formats.delta.table import DeltaTable
from airflow_kconnect.connectors.table.settings import Routing, TableSettings
from tests.integration.runtime.conftest import run_here
from tests.integration.runtime.sink.planned.conftest import tables
from tests.support import unique

__all__ = ["run_here", "tables"]

MakeTable = Callable[..., DeltaTable]
SETTINGS = TableSettings("shop", "delta", None, Routing())


def plan(number: int, application: str = "shop-1") -> SinkPlan:
    """A plan of some offsets."""
    return SinkPlan(application, number, (SinkSplit("orders", 0, number * 10, number * 10 + 10),))


@pytest.fixture
def path(tmp_path: Path) -> str:
    """The name of a table by its folder, which is not there yet."""
    return f"delta.`{tmp_path / unique('table')}`"


@pytest.fixture
def open_table(spark: SparkSession, lake: str) -> MakeTable:
    """A table as a run has it, in a session of its own: `open_table(name)`."""

    def go(name: str) -> DeltaTable:
        return DeltaTable(spark.newSession(), name, SETTINGS)

    return go
