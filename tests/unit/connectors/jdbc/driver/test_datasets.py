"""Tables as lineage names them, by OpenLineage's naming conventions; nothing secret of a URL is left."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.connector.datasets import Dataset
from airflow_kconnect.connectors.jdbc.driver.datasets import datasets_of
from airflow_kconnect.connectors.jdbc.sink_connector import AivenJdbcSink, ConfluentJdbcSink
from airflow_kconnect.connectors.jdbc.source_connector import ConfluentJdbcSource

PG = "jdbc:postgresql://db:6432/shop"
SINK = {"name": "s", "connection.url": PG, "topics": "orders,returns"}


@pytest.mark.parametrize(
    ("url", "table", "namespace", "name"),
    [
        pytest.param(PG, "orders", "postgres://db:6432", "shop.public.orders", id="public schema"),
        pytest.param(PG, "sales.orders", "postgres://db:6432", "shop.sales.orders", id="with schema"),
        pytest.param(PG, "shop.sales.orders", "postgres://db:6432", "shop.sales.orders", id="with catalog"),
        pytest.param("jdbc:postgresql:shop", "t", "postgres://localhost:5432", "shop.public.t", id="no host"),
        pytest.param("jdbc:mysql://db/shop", "orders", "mysql://db:3306", "shop.orders", id="MySQL"),
        pytest.param("jdbc:mariadb://db/shop", "shop.orders", "mariadb://db:3306", "shop.orders", id="MariaDB"),
        pytest.param("jdbc:sqlserver://db;databaseName=shop", "t", "mssql://db:1433", "shop.dbo.t", id="SQL Server"),
        pytest.param("jdbc:sqlite:/data/shop.db", "orders", "sqlite:///data/shop.db", "orders", id="SQLite"),
        pytest.param("jdbc:oracle:thin:@db:1521/shop", "A.T", "oracle://db:1521", "shop.A.T", id="Oracle"),
        pytest.param(f"{PG}?sslmode=require", "t", "postgres://db:6432", "shop.public.t", id="parameters"),
    ],
)
def test_names(url: str, table: str, namespace: str, name: str) -> None:
    assert datasets_of(url, [table]) == [Dataset(namespace, name)]


class TestSource:
    PROPS = {"name": "s", "connection.url": PG, "mode": "bulk", "table.whitelist": "orders, sales.returns"}

    def _names(self, props: dict[str, str], report: dict[str, Any] | None = None) -> list[str]:
        return [dataset.name for dataset in ConfluentJdbcSource.datasets(props, report)]

    def test_before_a_run_has_the_tables_that_are_named(self) -> None:
        assert self._names(self.PROPS) == ["shop.public.orders", "shop.sales.returns"]

    def test_after_a_run_has_the_tables_with_offsets(self) -> None:
        offsets = [{"partition": {"protocol": "1", "table": "sales.orders"}, "offset": {"incrementing": 1}}]

        assert self._names(self.PROPS, {"offsets": offsets}) == ["shop.sales.orders"]

    def test_a_query_has_none(self) -> None:
        offsets = [{"partition": {"query": "query"}, "offset": None}]
        props = {**self.PROPS, "table.whitelist": "", "query": "SELECT 1"}

        assert self._names(props, {"offsets": offsets}) == []

    def test_a_url_that_is_a_variable_has_none(self) -> None:
        assert self._names({**self.PROPS, "connection.url": "${env:URL}"}) == []


class TestSink:
    def test_before_a_run_has_the_tables_of_its_topics(self) -> None:
        datasets = ConfluentJdbcSink.datasets({**SINK, "table.name.format": "sales.${topic}"})

        assert [dataset.name for dataset in datasets] == ["shop.sales.orders", "shop.sales.returns"]

    def test_after_a_run_has_the_tables_of_its_report(self) -> None:
        datasets = AivenJdbcSink.datasets(SINK, {"notes": {"tables": ["orders_2026"]}})

        assert [dataset.name for dataset in datasets] == ["shop.public.orders_2026"]

    def test_a_topic_that_is_not_a_table_name_has_none(self) -> None:
        assert ConfluentJdbcSink.datasets({**SINK, "topics": "a.b.c.d.e"}) == []
