"""The demo's lake: changes of orders through Kafka into an Iceberg table, which Spark then reads as a source does."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.run import RecordsShown, RunSpec
from airflow_kconnect.demo.pipelines import Pipeline
from airflow_kconnect.submit.previewing import previewed_source

_ORDERS, _CHANGES = 400, 250
_ITEMS = ("apples", "bread", "cheese", "dates", "eggs", "figs")
_PLAIN_JSON = {
    "preview.output.value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "preview.output.value.converter.schemas.enable": "false",
}
_READING_S = 180.0
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
    _rows: list[Change] | None = None

    def proof(self) -> str:
        found = f"{len(self.written()):,} orders in the table"
        return f"{len(self):,} changes in, {found}: each as its last change left it, and none that was cancelled"

    def files(self) -> list[Path]:
        return sorted((self.data / "lake").rglob("*.parquet"))

    def written(self) -> list[Change]:
        if self._rows is None:
            self._rows = sorted(self._read(), key=lambda row: int(row["id"]))
        return self._rows

    def _read(self) -> list[Change]:
        """The table as Spark reads it: a preview of a source, which moves nothing."""
        config = {
            "name": "orders-in-lake",
            "connector.class": "SparkTableSource",
            "table.format": "iceberg",
            "table.catalog": "lake",
            "table.catalog.type": "hadoop",
            "table.catalog.warehouse": str(self.data / "lake"),
            "table.name": "shop.orders",
            "mode": "bulk",
            "topic": "not-written",
        }
        spec = RunSpec(config, self.worker, preview=RecordsShown(_ORDERS + _CHANGES, _PLAIN_JSON))
        found = previewed_source(spec, {}, _READING_S)["records"]
        return [json.loads(steps[-1]["value"]) for steps in found]

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
