"""Entries of runs that are over when they are written: those of many connectors, together."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from airflow_kconnect.kafka.log import LogRecord
from airflow_kconnect.kafka.partitions import partition_of
from airflow_kconnect.stores.status_topic.run_history import merged
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunRecord, RunsKey
from airflow_kconnect.stores.status_topic.runs import RunStatuses
from airflow_kconnect.stores.status_topic.writing import LIMIT_S, StatusWriter
from airflow_kconnect.worker_config.keys import WorkerConfig

log = logging.getLogger("kconnect")

_ATTEMPTS = 5
# Records of a partition at its end: see `RunHistory`. Each connector has written some since the last time.
_FIRST_LOOK = 500
_OF_EACH = 10
_FURTHER = 4
# What waits in the producer's queue is at most as many records of 64 KB.
_AT_ONCE = 200
_S_EACH = 0.02


@dataclass(frozen=True)
class EndedRun:
    """A run that had nothing to do: it has fenced no one, so others may be at work.

    :param run: its entry, without secrets. :param connector: what it knows of its connector, without runs.
    :param version: of the connector's class; None if it is not known.
    """

    name: str
    run: RunRecord
    connector: ConnectorRuns
    topics: tuple[str, ...]
    version: str | None

    @property
    def key(self) -> bytes:
        """Of its connector's runs."""
        return RunsKey(self.name).encode()

    def added_to(self, known: ConnectorRuns | None) -> ConnectorRuns:
        """What is known of the connector, with this run."""
        return merged(known or ConnectorRuns(), self.run, self.connector, self.topics, fences=False)


def tell_ended(worker: WorkerConfig, runs: Sequence[EndedRun]) -> None:
    """Write that the connectors are running, as after a run that ended well, and the entries of the runs.

    One thread and one producer for all of them; waits for the broker for a limited time. What goes wrong is a warning.
    """
    if not runs:
        return
    more = f" and {len(runs) - 1} more" if len(runs) > 1 else ""
    writer = StatusWriter(worker, f"{runs[0].name}{more}", LIMIT_S + _S_EACH * len(runs))
    for run in runs:
        RunStatuses(worker, run.name, run.version, writer=writer).running()
    for first in range(0, len(runs), _AT_ONCE):
        entries = _Entries(writer, runs[first : first + _AT_ONCE])
        writer.do(entries.write)
    writer.close()


class _Entries:
    """Adds runs to the records of their connectors: the steps are those of `RunHistory`, for all records at once."""

    def __init__(self, writer: StatusWriter, runs: Sequence[EndedRun]) -> None:
        self._writer = writer
        self._waiting = {run.key: run for run in runs}
        self._known: dict[bytes, ConnectorRuns] = {}

    def write(self) -> None:
        """In the writer's thread."""
        self._reader = self._writer.reader()
        for key, theirs in self._look().items():  # 1
            self._put(key, self._waiting[key].added_to(theirs))
        for _ in range(_ATTEMPTS):  # 3
            self._writer.flush()
            if not (others := self._others()):
                return
            for key, records in others.items():
                self._put_again(key, records)

    def _look(self) -> dict[bytes, ConnectorRuns | None]:
        """What each connector's record holds, as read from the ends of the partitions backwards."""
        found: dict[bytes, LogRecord] = {}
        missing: dict[int, set[bytes]] = {}
        for key in self._waiting:
            missing.setdefault(self._partition(key), set()).add(key)
        partitions, topic = sorted(missing), self._writer.topic
        most = max(_FIRST_LOOK, _OF_EACH * max(map(len, missing.values())))
        begins = self._writer.admin.begin_offsets(topic, partitions)
        while partitions:
            ends = self._writer.admin.end_offsets(topic, partitions, committed=True)
            starts = {p: max(begins[p], ends[p] - most) for p in partitions}
            self._reader.positions |= starts
            for record in self._read(partitions):
                assert record.key is not None
                found[record.key] = record
            missing = {p: missing[p] - found.keys() for p in partitions if starts[p] > begins[p]}
            partitions, most = [p for p, keys in missing.items() if keys], most * _FURTHER
        return {key: _decoded(found[key]) if key in found else None for key in self._waiting}

    def _put(self, key: bytes, runs: ConnectorRuns) -> None:
        self._known[key] = runs
        self._writer.produce(key, runs.encode(), self._partition(key))

    def _others(self) -> dict[bytes, list[LogRecord]]:
        """What others have written of the same connectors since the look."""
        own = {key: self._writer.written(key) for key in self._waiting}
        others: dict[bytes, list[LogRecord]] = {}
        for record in self._read({self._partition(key) for key in self._waiting}):
            if record.key is not None and own[record.key] != (record.partition, record.offset):
                others.setdefault(record.key, []).append(record)
        return others

    def _put_again(self, key: bytes, records: list[LogRecord]) -> None:
        if records[-1].value is None:  # the connector was deleted, maybe before what was written
            self._writer.produce(key, None, self._partition(key))
            return
        known = self._known[key]
        for theirs in filter(None, map(_decoded, records)):
            known = replace(theirs, runs=known.with_runs(theirs.runs).runs)
        self._put(key, self._waiting[key].added_to(known))

    def _read(self, partitions: Sequence[int] | set[int]) -> list[LogRecord]:
        """The records of these connectors that are new to the reader."""
        found: list[LogRecord] = []

        def take(record: LogRecord) -> None:
            if record.key in self._waiting:
                found.append(record)

        self._reader.read(partitions, take, committed=True)
        return found

    def _partition(self, key: bytes) -> int:
        return partition_of(key, self._writer.partitions)


def _decoded(record: LogRecord) -> ConnectorRuns | None:
    try:
        return ConnectorRuns.decode(record.value)
    except (ValueError, RecursionError) as error:
        log.warning("ignoring the runs of a connector at %s: %s", record, error)
        return None
