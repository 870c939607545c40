"""The demo's lake: changes of orders through Kafka into an Iceberg table, which Spark and DuckDB then read."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any

from airflow_kconnect.demo.engines import DUCKDB_MISSING, check_iceberg, duckdb_answer, spark_answers
from airflow_kconnect.demo.pipelines import Answer, Pipeline
from airflow_kconnect.submit.spark import SparkSubmit

_ORDERS, _CHANGES = 400, 250
_ITEMS = ("apples", "bread", "cheese", "dates", "eggs", "figs")
_ASKED = ("item", "orders", "amount")
_QUERY = "select item, count(*) as orders, sum(amount) as amount from {table} group by item order by item"
Change = dict[str, Any]


def order_changes() -> list[Change]:
    """What happens to orders: each is created, some are changed, some of them cancelled. The same each time."""
    dice = random.Random("orders")
    orders: dict[int, Change] = {
        n: {"id": n, "item": dice.choice(_ITEMS), "amount": dice.randrange(1, 20)} for n in range(_ORDERS)
    }
    changes = [{"op": "c", **order} for order in orders.values()]
    for _ in range(_CHANGES):
        order = orders[dice.choice(list(orders))]
        if dice.random() < 0.3:
            del orders[order["id"]]
            changes.append({"op": "d", **order})
        else:
            order["amount"] = dice.randrange(1, 20)
            changes.append({"op": "u", **order})
    return changes


class LakePipeline(Pipeline):
    """Changes of orders, through Kafka into an Iceberg table with the present ones."""

    dag_id = "example_lake_pipeline"
    connectors, topic = ("orders-source", "orders-lake"), "db-order_changes"
    unit, route, input = "changes", "changes of a SQLite table -> Kafka -> Iceberg", "orders.db"

    subject, downloads, output_unit = "orders", ("Iceberg for Spark", 48), "orders"
    news = "more changes arrive, deletions among them"

    def check(self, spark: SparkSubmit) -> None:
        check_iceberg(spark)

    def is_complete(self) -> bool:
        first, *others = self.answer().rows.values()
        return super().is_complete() and all(rows == first for rows in others)

    def proof(self) -> str:
        found = f"{len(self.written()):,} orders in the table"
        changes = f"{len(self):,} changes in, {found}: each as its last change left it, and none that was cancelled"
        return f"{changes}. {' and '.join(self.answer().rows)} agree" if len(self.answer().rows) > 1 else changes

    def files(self) -> list[Path]:
        return sorted(file for kind in ("parquet", "puffin") for file in (self.data / "lake").rglob(f"*.{kind}"))

    def written(self) -> list[Change]:
        return self._found[0]

    def answer(self) -> Answer:
        return self._found[1]

    @cached_property
    def _found(self) -> tuple[list[Change], Answer]:
        """All orders, by Spark, and what it and DuckDB answer to a query."""
        lake, query = self.data / "lake", _QUERY.format(table="lake.shop.orders")
        orders, by_spark = spark_answers(lake, ("select * from lake.shop.orders order by id", query))
        by_duckdb = duckdb_answer(lake / "shop" / "orders", "orders", _QUERY.format(table="orders"))
        if by_duckdb is None:
            return orders, Answer(query, _ASKED, {"Spark": by_spark}, DUCKDB_MISSING)
        return orders, Answer(query, _ASKED, {"Spark": by_spark, "DuckDB": by_duckdb})

    def _load(self) -> list[Change]:
        return order_changes()

    def _add(self, part: Sequence[Change]) -> None:
        with closing(sqlite3.connect(self.data / self.input)) as database, database:
            columns = "seq integer primary key autoincrement not null, op text, id integer, item text, amount integer"
            database.execute(f"create table if not exists order_changes ({columns})")
            statement = "insert into order_changes (op, id, item, amount) values (:op, :id, :item, :amount)"
            database.executemany(statement, part)

    def _expected(self) -> list[Change]:
        with closing(sqlite3.connect(self.data / self.input)) as database:
            database.row_factory = sqlite3.Row
            last = {row["id"]: dict(row) for row in database.execute("select * from order_changes order by seq")}
        return [row for _, row in sorted(last.items()) if row["op"] != "d"]
