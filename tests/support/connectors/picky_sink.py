"""A sink whose task cannot write odd numbers, and reports that to its reporter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.sink import PollSinkConnector
from airflow_kconnect.connect.connector.task import SinkTask
from airflow_kconnect.connect.record import SinkRecord


class PickySinkTask(SinkTask):
    def start(self, props: Mapping[str, str]) -> None:
        return

    def put(self, records: Sequence[SinkRecord]) -> None:
        for record in records:
            if record.value["n"] % 2:
                assert self.context.errant_record_reporter is not None
                self.context.errant_record_reporter.report(record, ValueError("odd"))

    def stop(self) -> None:
        return


class PickySink(PollSinkConnector):
    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef()

    def task_class(self) -> type[SinkTask]:
        return PickySinkTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self.props)]
