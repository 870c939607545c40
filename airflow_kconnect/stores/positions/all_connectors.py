"""All connectors that appear in the offset topic, the config topic and the consumer groups: state, offsets, lag."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log import CompactedLog, LogRecord
from airflow_kconnect.kafka.polling_admin import PollingAdmin
from airflow_kconnect.runs.end import distance, run_start
from airflow_kconnect.stores.offset_topic.records import sink_of
from airflow_kconnect.stores.offset_topic.sink_records import SinkRecords
from airflow_kconnect.stores.status_topic.store import StatusStore
from airflow_kconnect.stores.target_states import TargetState, TargetStates
from airflow_kconnect.worker_config.keys import WorkerConfig

_GROUP = "connect-"


@dataclass
class ConnectorStatus:
    """What is known about a connector.

    :param kind: `source`, `sink`, or None if it has no committed offsets.
    :param offsets: in the format of Connect's REST API.
    :param lag: of a sink: number of records between its committed offsets and the ends of their partitions.
    """

    name: str
    state: str
    kind: str | None = None
    offsets: list[dict[str, Any]] = field(default_factory=list)
    lag: int | None = None


def overview(worker: WorkerConfig, groups: Mapping[str, str] | None = None) -> list[ConnectorStatus]:
    """The connectors, by name.

    :param groups: only these connectors, with the consumer group of each; None: all that are found. A connector with an
        offset topic or consumer group of its own cannot be found without its configuration.
    :raises RetriableError: the broker is unavailable.
    """
    clients = ClientConfigs(worker.props)
    admin = PollingAdmin(clients.admin())
    topics = admin.check_reachable()
    states = TargetStates(worker).read_all()
    sources, sinks = _offset_topic(admin, clients, worker.offset_topic, topics)
    if groups is None:
        own = {f"{_GROUP}{name}" for name in sources} | {worker.group_id}
        of_sinks = [group for group in {*admin.groups(), *sinks} if group.startswith(_GROUP) and group not in own]
        groups = {name: f"{_GROUP}{name}" for name in (*sources, *states)}
        groups |= {group.removeprefix(_GROUP): group for group in of_sinks}
        known = {name: _status(name, group, admin, states, sources, sinks) for name, group in groups.items()}
        return [known[name] for name in sorted(known) if known[name].kind or name in states]
    return [_status(name, group, admin, states, sources, sinks) for name, group in groups.items()]


def names(worker: WorkerConfig) -> set[str]:
    """The connectors that have a target state, a status, runs, offsets or a consumer group, registered or not.

    :raises RetriableError: the broker is unavailable.
    """
    clients = ClientConfigs(worker.props)
    admin = PollingAdmin(clients.admin())
    topics = admin.check_reachable()
    sources, sinks = _offset_topic(admin, clients, worker.offset_topic, topics)
    groups = {group for group in (*admin.groups(), *sinks) if group.startswith(_GROUP)} - {worker.group_id}
    return {*TargetStates(worker).read_all(), *sources, *(g.removeprefix(_GROUP) for g in groups), *_reported(worker)}


def _reported(worker: WorkerConfig) -> set[str]:
    if not worker.writes_statuses:
        return set()
    store = StatusStore(worker)
    try:
        store.refresh()
        return {*store.connectors(), *store.all_runs()}
    finally:
        store.close()


def _status(
    name: str,
    group: str,
    admin: PollingAdmin,
    states: Mapping[str, TargetState],
    sources: Mapping[str, Mapping[str, dict[str, Any]]],
    sinks: Mapping[str, Mapping[TopicPartition, int]],
) -> ConnectorStatus:
    status = ConnectorStatus(name, states.get(name, TargetState.STARTED).value)
    if name in sources:
        status.kind, status.offsets = "source", list(sources[name].values())
        return status
    committed = {**sinks.get(group, {}), **admin.committed_offsets(group)}
    if committed:
        status.kind = "sink"
        status.offsets = [
            {
                "partition": {"kafka_topic": tp.topic, "kafka_partition": tp.partition},
                "offset": {"kafka_offset": offset},
            }
            for tp, offset in sorted(committed.items())
        ]
        status.lag = _lag(admin, committed)
    return status


def _lag(admin: PollingAdmin, committed: Mapping[TopicPartition, int]) -> int:
    """Partitions of deleted topics have no lag."""
    sizes = admin.partitions_of({tp.topic for tp in committed})
    bounds = admin.bounds([tp for tp in committed if tp.partition < sizes.get(tp.topic, 0)])
    starts = {tp: run_start(committed[tp], *bound, latest=False) for tp, bound in bounds.items()}
    return sum(distance(starts[tp], bound.log_end) for tp, bound in bounds.items())


def _offset_topic(
    admin: PollingAdmin, clients: ClientConfigs, topic: str, topics: Mapping[str, int]
) -> tuple[dict[str, dict[str, dict[str, Any]]], dict[str, dict[TopicPartition, int]]]:
    """For each source: source partition as text -> its entry; for each sink's group: its offsets in existing topics."""
    sources: dict[str, dict[str, dict[str, Any]]] = {}
    sinks: dict[str, SinkRecords] = {}

    def take(record: LogRecord) -> None:
        if (sink := sink_of(record.key or b"null")) is not None:
            sinks.setdefault(sink[0], SinkRecords(sink[0])).add(record)
            return
        key = _parsed(record.key)
        if not (isinstance(key, list) and len(key) == 2 and isinstance(key[0], str) and isinstance(key[1], dict)):
            return
        entries = sources.setdefault(key[0], {})
        identity = json.dumps(key[1], sort_keys=True)
        entries.pop(identity, None)
        if record.value is not None:
            entries[identity] = {"partition": key[1], "offset": _parsed(record.value)}

    if topic in topics:
        log = CompactedLog(admin, clients.consumer("connect-overview-offsets"), topic)
        log.read(range(topics[topic]), take, committed=True)
    return {name: entries for name, entries in sources.items() if entries}, {
        group: {tp: offset for tp, offset in _offsets(records).items() if tp.topic in topics}
        for group, records in sinks.items()
    }


def _offsets(records: SinkRecords) -> dict[TopicPartition, int]:
    """None for what cannot be read: a run would report it."""
    try:
        return records.offsets()
    except DataError:
        return {}


def _parsed(text: bytes | None) -> Any:
    """Parsed JSON; None for anything else: an overview leaves out what a run would reject."""
    try:
        return json.loads(text or b"null")
    except (ValueError, RecursionError):
        return None
