"""A source whose records have a price as text in the configuration: also prices that no column can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from airflow_kconnect.connect.config import ConfigDef, Type
from airflow_kconnect.connect.connector.source import PollSourceConnector, RecordShapes
from airflow_kconnect.connect.connector.task import SourceTask
from airflow_kconnect.connect.data import Shape, decimal_schema, struct
from airflow_kconnect.connect.record import SourceRecord

PRICED = struct(("price", decimal_schema(2)))


class PricedSource(PollSourceConnector):
    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef().define("topic", Type.STRING).define("prices", Type.LIST)

    def task_class(self) -> type[SourceTask]:
        return PricedTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self.props)]

    def shapes(self) -> RecordShapes:
        return RecordShapes(values=(Shape(PRICED),))


class PricedTask(SourceTask):
    def start(self, props: Mapping[str, str]) -> None:
        self._topic = props["topic"]
        self._prices: list[str] | None = props["prices"].split(",")

    def poll(self) -> Sequence[SourceRecord] | None:
        prices, self._prices = self._prices, None
        if prices is None:
            return None
        return [
            SourceRecord({"id": 0}, {"n": n}, self._topic, {"price": Decimal(price)}, PRICED)
            for n, price in enumerate(prices)
        ]
