"""A `SourceTask` that polls what a script says, for tests of what hosts it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from airflow_kconnect.connect.connector.source import RecordShapes
from airflow_kconnect.connect.connector.task import SourceTask, SourceTaskContext
from airflow_kconnect.connect.data import INT32_SCHEMA, INT64_SCHEMA, STRING_SCHEMA, Shape, struct
from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.runtime.source.poll import PollSettings

PARTITION = {"id": 0}
ID = '{"id":0}'
POINT = struct(("x", INT64_SCHEMA))
SHAPES = RecordShapes((Shape(INT32_SCHEMA),), (Shape(STRING_SCHEMA), Shape(POINT)))

Scripted = Callable[..., list[str]]
MakeSettings = Callable[..., PollSettings]


def records(*numbers: int) -> list[SourceRecord]:
    return [SourceRecord(PARTITION, {"n": n}, "t", f"value {n}", STRING_SCHEMA) for n in numbers]


def numbers(batches: Iterator[list[SourceRecord]]) -> list[list[int]]:
    return [[record.source_offset["n"] for record in batch if record.source_offset] for batch in batches]


class ScriptedTask(SourceTask):
    """Polls what the script says; writes down what is called."""

    script: ClassVar[list[Sequence[SourceRecord] | Exception | Callable[[SourceTaskContext], Any] | None]] = []
    calls: ClassVar[list[str]] = []

    def initialize(self, context: SourceTaskContext) -> None:
        super().initialize(context)
        self.calls.append("initialize")

    def start(self, props: Mapping[str, str]) -> None:
        self.calls.append("start")

    def poll(self) -> Sequence[SourceRecord] | None:
        self.calls.append("poll")
        polled = self.script.pop(0) if self.script else None
        if isinstance(polled, Exception):
            raise polled
        return polled(self.context) if callable(polled) else polled

    def commit_record(self, record: SourceRecord) -> None:
        assert record.source_offset
        self.calls.append(f"commit_record {record.source_offset['n']}")

    def commit(self) -> None:
        self.calls.append("commit")

    def stop(self) -> None:
        self.calls.append("stop")


class NoStart(ScriptedTask):
    def start(self, props: Mapping[str, str]) -> None:
        raise RetriableError("database is unavailable")


class NoCallbacks(ScriptedTask):
    commit_record = SourceTask.commit_record


class NoStop(ScriptedTask):
    def stop(self) -> None:
        raise AttributeError("no connection to close")


class NoConstructor(ScriptedTask):
    def __init__(self) -> None:
        raise OSError("no driver")
