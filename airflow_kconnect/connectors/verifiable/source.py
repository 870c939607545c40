"""VerifiableSource: each task counts 0, 1, 2, ..., so that a consumer can detect lost and duplicated records.

Keys, records, source partition, offset and log lines are those of
``org.apache.kafka.connect.tools.VerifiableSourceConnector``. Additional keys are ``max.seqno``, because runs end here,
and ``log.file``, because the standard output of executors is hard to find.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.config import ConfigDef, Importance, NonEmptyString, Range, Type, nullable
from airflow_kconnect.connect.connector.source import ExactlyOnceSupport, PollSourceConnector, RecordShapes
from airflow_kconnect.connect.connector.task import SourceTask
from airflow_kconnect.connect.data import INT32_SCHEMA, INT64_SCHEMA, STRING_SCHEMA, ConnectSchema, Shape, struct
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.connectors.verifiable.log import JsonLog, log_path, now_ms
from airflow_kconnect.validation.connector_keys import KCONNECT

COMPLETE_VALUE_SCHEMA = struct(
    ("name", STRING_SCHEMA),
    ("task", INT32_SCHEMA),
    ("topic", STRING_SCHEMA),
    ("time_ms", INT64_SCHEMA),
    ("seqno", INT64_SCHEMA),
)

_BATCH_RECORDS = 1000
_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 1.0


def _config() -> ConfigDef:
    return (
        ConfigDef()
        .define("topic", Type.STRING, importance=Importance.HIGH, validator=NonEmptyString(),
                documentation="The topic to write to.")
        .define("throughput", Type.INT, -1, Importance.MEDIUM,
                "Records per second and task; -1 is as many as possible.", validator=Range.at_least(-1))
        .define("complete.record.data", Type.BOOLEAN, False, Importance.LOW,
                "Whether the value is a struct of name, task, topic, time_ms and seqno; else it is the seqno alone.")
        .define("max.seqno", Type.LONG, None, Importance.MEDIUM,
                "The last seqno of each task; when it is reached, the task has caught up. Not set: the run ends at "
                "`kconnect.max.records` or `kconnect.max.duration.ms`.", validator=nullable(Range.at_least(0)),
                group=KCONNECT)
        .define("log.file", Type.STRING, None, Importance.LOW,
                "Each task appends a JSON line per record to `<log.file>-<task>`, and another one with "
                '`"committed": true` after its commit. Not set: no log.', group=KCONNECT)
    )  # fmt: skip


class VerifiableSourceConnector(PollSourceConnector):
    """Always has `tasks.max` tasks."""

    summary = "Writes numbers, as many as are asked for: for testing an installation."

    @classmethod
    def config(cls) -> ConfigDef:
        return _config()

    @classmethod
    def exactly_once_support(cls, props: Mapping[str, str]) -> ExactlyOnceSupport:
        return ExactlyOnceSupport.SUPPORTED

    def task_class(self) -> type[SourceTask]:
        return VerifiableSourceTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [{**self.props, "id": str(task)} for task in range(max_tasks)]

    def shapes(self) -> RecordShapes:
        return RecordShapes((Shape(INT32_SCHEMA),), (Shape(_value_schema(self.config_values)),))


class VerifiableSourceTask(SourceTask):
    """Source partition ``{"id": task}``, offset ``{"seqno": n}``, key: the task, value: the seqno."""

    def __init__(self) -> None:
        self._log = JsonLog(None)

    def start(self, props: Mapping[str, str]) -> None:
        values = _config().parse(props)
        self._name, self._id = props["name"], int(props["id"])
        self._topic: str = values["topic"]
        self._complete: bool = values["complete.record.data"]
        self._throughput: int = values["throughput"]
        self._max_seqno: int | None = values["max.seqno"]
        self._value_schema = _value_schema(values)
        self._partition = {"id": self._id}
        offset = self.context.offset(self._partition)
        self._seqno = 0 if offset is None else int(offset["seqno"]) + 1
        self._first_seqno, self._started_s = self._seqno, time.monotonic()
        self._log = JsonLog(log_path(values["log.file"], self._id))

    def poll(self) -> Sequence[SourceRecord] | None:
        """The records that are due; none after a pause if none are due, so that the run can commit."""
        end = self._seqno + _BATCH_RECORDS if self._max_seqno is None else self._max_seqno + 1
        if self._seqno >= end:
            return None
        due = min(end - self._seqno, _BATCH_RECORDS, self._allowed())
        if due <= 0:
            self._pause()
            return ()
        facts = [self._facts(seqno) for seqno in range(self._seqno, self._seqno + due)]
        self._seqno += due
        self._log.write(facts)
        return [self._record(fact) for fact in facts]

    def commit_record(self, record: SourceRecord) -> None:
        assert record.source_offset is not None
        self._log.write([self._facts(record.source_offset["seqno"]) | {"committed": True}])

    def commit(self) -> None:
        self._log.sync()

    def stop(self) -> None:
        self._log.close()

    def _allowed(self) -> int:
        """How many more records the throughput allows by now."""
        if self._throughput < 0:
            return _BATCH_RECORDS
        elapsed_s = time.monotonic() - self._started_s
        return int(elapsed_s * self._throughput) - (self._seqno - self._first_seqno)

    def _pause(self) -> None:
        next_s = 1 / self._throughput if self._throughput else _LONGEST_PAUSE_S
        time.sleep(min(max(next_s, _SHORTEST_PAUSE_S), _LONGEST_PAUSE_S))

    def _facts(self, seqno: int) -> dict[str, Any]:
        return {
            "name": self._name,
            "task": self._id,
            "topic": self._topic,
            "time_ms": now_ms(),
            "seqno": seqno,
        }

    def _record(self, facts: dict[str, Any]) -> SourceRecord:
        return SourceRecord(
            source_partition=self._partition,
            source_offset={"seqno": facts["seqno"]},
            topic=self._topic,
            key=self._id,
            key_schema=INT32_SCHEMA,
            value=facts if self._complete else facts["seqno"],
            value_schema=self._value_schema,
        )


def _value_schema(values: Mapping[str, Any]) -> ConnectSchema:
    return COMPLETE_VALUE_SCHEMA if values["complete.record.data"] else INT64_SCHEMA
