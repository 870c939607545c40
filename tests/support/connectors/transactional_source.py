"""A source whose every third record ends a transaction; every second transaction is aborted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from airflow_kconnect.connect.config import ConfigDef, Type
from airflow_kconnect.connect.connector.source import ExactlyOnceSupport, PollSourceConnector
from airflow_kconnect.connect.connector.task import SourceTask
from airflow_kconnect.connect.record import SourceRecord

PARTITION = {"id": 0}


class TransactionalSource(PollSourceConnector):
    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef().define("topic", Type.STRING).define("records", Type.INT)

    @classmethod
    def exactly_once_support(cls, props: Mapping[str, str]) -> ExactlyOnceSupport:
        return ExactlyOnceSupport.SUPPORTED

    def task_class(self) -> type[SourceTask]:
        return TransactionalTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self.props)]


class TransactionalTask(SourceTask):
    """Polls two records at a time, up to a number that need not end a transaction."""

    def start(self, props: Mapping[str, str]) -> None:
        offset = self.context.offset(PARTITION)
        self._topic, self._next, self._end = props["topic"], offset["n"] + 1 if offset else 0, int(props["records"])

    def poll(self) -> Sequence[SourceRecord] | None:
        transactions = self.context.transaction_context
        assert transactions is not None
        if self._next >= self._end:
            return None
        numbers = range(self._next, min(self._next + 2, self._end))
        self._next = numbers.stop
        records = [SourceRecord(PARTITION, {"n": n}, self._topic, n) for n in numbers]
        for n, record in zip(numbers, records, strict=True):
            if n % 6 == 2:
                transactions.commit_transaction(record)
            elif n % 6 == 5:
                transactions.abort_transaction(record)
        return records

    def stop(self) -> None:
        return
