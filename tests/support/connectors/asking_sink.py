"""A sink whose task asks for something by its context; what it is put and does is in files below ``folder``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from airflow_kconnect.connect.config import ConfigDef, Type
from airflow_kconnect.connect.connector.sink import PollSinkConnector
from airflow_kconnect.connect.connector.task import SinkTask
from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.connect.record import SinkRecord, TopicPartition


class AskingSinkTask(SinkTask):
    """``asks``: `pause`, when it is opened; `back`, once, to offset 5000 when it was put more than 10000, after a
    commit; `fail`, the same and then an error; `time`, as long as there is no file `there`; `unavailable`, a failure at
    first.
    """

    def start(self, props: Mapping[str, str]) -> None:
        self._folder, self._asks = Path(props["folder"]), props["asks"]

    def open(self, partitions: Sequence[TopicPartition]) -> None:
        if self._asks == "pause":
            self.context.pause(*partitions)

    def put(self, records: Sequence[SinkRecord]) -> None:
        if self._asks == "time" and not (self._folder / "there").exists():
            (self._folder / "asked").touch()
            self.context.timeout(50)
            raise RetriableError("the target is unavailable")
        if self._asks == "unavailable" and not (self._folder / "asked").exists():
            (self._folder / "asked").touch()
            raise RetriableError("the target is unavailable")
        with (self._folder / "put").open("a") as lines:
            lines.write(json.dumps([record.kafka_offset for record in records]) + "\n")
        asked = self._folder / "asked"
        if self._asks in ("back", "fail"):
            self.context.request_commit()
            if records[-1].kafka_offset > 10_000 and not asked.exists():
                asked.touch()
                self.context.offset({self.context.assignment[0]: 5000})
            elif asked.exists() and self._asks == "fail":
                raise ValueError("after it went back")

    def stop(self) -> None:
        return


class AskingSink(PollSinkConnector):
    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef().define("folder", Type.STRING).define("asks", Type.STRING)

    def task_class(self) -> type[SinkTask]:
        return AskingSinkTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self.props)]
