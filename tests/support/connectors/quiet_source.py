"""A source that has some records and then few or none for a while; it does not say whether it can be exactly once."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from airflow_kconnect.connect.config import ConfigDef, Type
from airflow_kconnect.connect.connector.source import PollSourceConnector
from airflow_kconnect.connect.connector.task import SourceTask
from airflow_kconnect.connect.record import SourceRecord


class QuietSource(PollSourceConnector):
    @classmethod
    def config(cls) -> ConfigDef:
        return (
            ConfigDef()
            .define("topic", Type.STRING)
            .define("records", Type.INT, documentation="How many records come at once.")
            .define("then", Type.INT, documentation="How many come each tenth of a second afterwards.")
            .define("until", Type.STRING, documentation="The file that ends it.")
        )

    def task_class(self) -> type[SourceTask]:
        return QuietTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self.props)]


class QuietTask(SourceTask):
    def start(self, props: Mapping[str, str]) -> None:
        self._topic, self._then, self._until = props["topic"], int(props["then"]), Path(props["until"])
        self._next, self._count = 0, int(props["records"])

    def poll(self) -> Sequence[SourceRecord] | None:
        if self._until.exists():
            return None
        first, self._next = self._next, self._next + self._count
        self._count = self._then
        if first:
            time.sleep(0.1)
        return [SourceRecord({"id": 0}, {"n": n}, self._topic, n) for n in range(first, self._next)]
