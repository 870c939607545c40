"""VerifiableSink: logs which records it received, and which of them were flushed.

The log lines are those of ``org.apache.kafka.connect.tools.VerifiableSinkConnector``; they go to ``log.file``, because
the standard output of executors is hard to find.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.config import ConfigDef, Importance, Type
from airflow_kconnect.connect.connector.sink import PollSinkConnector
from airflow_kconnect.connect.connector.task import SinkTask
from airflow_kconnect.connect.record import SinkRecord, TopicPartition
from airflow_kconnect.connectors.verifiable.log import JsonLog, log_path, now_ms
from airflow_kconnect.validation.connector_keys import KCONNECT


def _config() -> ConfigDef:
    return ConfigDef().define(
        "log.file",
        Type.STRING,
        None,
        Importance.MEDIUM,
        "A JSON line per record is appended to `<log.file>-<topic>-<partition>`, and another one with "
        '`"flushed": true` when it is flushed. Not set: no log.',
        group=KCONNECT,
    )


class VerifiableSinkConnector(PollSinkConnector):
    """Always has `tasks.max` task configurations."""

    summary = "Counts what it reads and writes nothing: for testing an installation."

    @classmethod
    def config(cls) -> ConfigDef:
        return _config()

    def task_class(self) -> type[SinkTask]:
        return VerifiableSinkTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [{**self.props, "id": str(task)} for task in range(max_tasks)]


class VerifiableSinkTask(SinkTask):
    """`task` in a line is the record's key: the VerifiableSource task that produced it."""

    def __init__(self) -> None:
        self._logs: dict[TopicPartition, JsonLog] = {}
        self._unflushed: dict[TopicPartition, list[dict[str, Any]]] = {}

    def start(self, props: Mapping[str, str]) -> None:
        self._name, self._id = props["name"], int(props["id"])
        self._prefix: str | None = _config().parse(props)["log.file"]

    def put(self, records: Sequence[SinkRecord]) -> None:
        """The lines of a call are written together, partition by partition."""
        if self._prefix is None:
            return
        put: dict[TopicPartition, list[dict[str, Any]]] = {}
        for record in records:
            put.setdefault(TopicPartition(record.topic, record.partition), []).append(self._facts(record))
        for partition, facts in put.items():
            self._log(partition).write(facts)
            self._unflushed.setdefault(partition, []).extend(facts)

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        time_ms = now_ms()
        for partition, facts in self._unflushed.items():
            log = self._log(partition)
            log.write({**fact, "time_ms": time_ms, "flushed": True} for fact in facts)
            log.sync()
        self._unflushed.clear()

    def stop(self) -> None:
        for log in self._logs.values():
            log.close()

    def _log(self, partition: TopicPartition) -> JsonLog:
        """The log of a partition; a transformation may have moved records to partitions that the task does not have."""
        if partition not in self._logs:
            self._logs[partition] = JsonLog(log_path(self._prefix, partition.topic, partition.partition))
        return self._logs[partition]

    def _facts(self, record: SinkRecord) -> dict[str, Any]:
        return {
            "name": self._name,
            "task": record.key,
            "sinkTask": self._id,
            "topic": record.topic,
            "time_ms": now_ms(),
            "seqno": record.value,
            "offset": record.kafka_offset,
        }
