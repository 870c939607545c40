"""A source of records of any shapes, each shape into a topic of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from airflow_kconnect.connect.config import ConfigDef, Type
from airflow_kconnect.connect.connector.source import PollSourceConnector, RecordShapes
from airflow_kconnect.connect.connector.task import SourceTask
from airflow_kconnect.connect.data import ConnectSchema, Shape
from airflow_kconnect.connect.record import SourceRecord


class Shaped(NamedTuple):
    """Values of one schema."""

    schema: ConnectSchema | None
    values: list[Any]


class ShapedSource(PollSourceConnector):
    """A subclass has the records."""

    records: ClassVar[Mapping[str, Shaped]] = {}

    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef().define("prefix", Type.STRING, documentation="Of the topics; the names of shapes follow.")

    def task_class(self) -> type[SourceTask]:
        records = dict(self.records)

        class ShapedTask(_Task):
            shaped = records

        return ShapedTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self.props)]

    def shapes(self) -> RecordShapes:
        return RecordShapes(values=tuple({Shape(each.schema): None for each in self.records.values() if each.schema}))


class _Task(SourceTask):
    shaped: ClassVar[Mapping[str, Shaped]] = {}

    def start(self, props: Mapping[str, str]) -> None:
        self._prefix, self._done = props["prefix"], False

    def poll(self) -> Sequence[SourceRecord] | None:
        if self._done:
            return None
        self._done = True
        pairs = [(name, schema, value) for name, (schema, values) in self.shaped.items() for value in values]
        return [
            SourceRecord({"id": 0}, {"n": n}, f"{self._prefix}{name}", value, schema)
            for n, (name, schema, value) in enumerate(pairs)
        ]
