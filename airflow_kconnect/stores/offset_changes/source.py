"""Reading, altering and resetting the offsets of a source connector between runs (KIP-875)."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from airflow_kconnect.connect.connector.source import SourceConnector
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.hosting.keys import hosted_group
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log import CompactedLog, LogRecord, OpenTransactionError
from airflow_kconnect.kafka.producers import CommittingProducer
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.stores.fencing import SourceFence
from airflow_kconnect.stores.offset_changes.asking import AskClass
from airflow_kconnect.stores.offset_changes.requests import READ_PATIENCE_S, OffsetChange, source_request
from airflow_kconnect.stores.offset_topic.records import PlanRecord, facts_key, offset_value
from airflow_kconnect.stores.offset_topic.view import OffsetView
from airflow_kconnect.stores.topics import ensure_offset_topic
from airflow_kconnect.validation.connector import ValidatedConfig
from airflow_kconnect.worker_config.keys import WorkerConfig

log = logging.getLogger(__name__)

_DOING = "altering the offsets"


class SourceOffsets:
    """The offset topic of one source connector. Use a new object for each operation.

    :param config: of the connector.
    :param ask: the Java class of a hosted connector; None: it is not asked.
    :raises ConfigError: a client setting is not supported.
    """

    def __init__(self, config: ValidatedConfig, worker: WorkerConfig, ask: AskClass | None = None) -> None:
        self._config, self._worker, self._ask = config, worker, ask
        self._name = config.name
        self._clients = ClientConfigs(worker.props, config.props, config.name)
        self._admin = KafkaAdmin(self._clients.admin())
        hosted = config.hosted is not None
        self._group = hosted_group(config.props, worker.group_id) if hosted else worker.group_id
        self._fence = SourceFence(self._clients, self._group, config.name, exactly_once=worker.exactly_once)
        self._topic = worker.offset_topic_of(config.common)
        self._log = self._reader(self._clients.patience_s)

    def read(self) -> list[dict[str, Any]]:
        """What is committed, as Connect's REST API shows it; empty if there is no offset topic.

        :raises DataError: an offset of the connector cannot be read.
        """
        view = OffsetView(self._name)
        if partitions := self._admin.check_reachable().get(self._topic, 0):
            try:
                self._reader(READ_PATIENCE_S).read(range(partitions), view.add)
            except OpenTransactionError as error:
                log.warning("offsets after an open transaction are not shown: %s", error)
            view.check_readable()
        return [{"partition": partition, "offset": offset} for partition, offset in view.committed()]

    def alter(self, request: Any) -> bool:
        """Replace committed offsets, all or none.

        1 check the request, and that no run is unfinished
        2 call the connector
        3 take over: a run still in progress can no longer commit anything
        4 check for unfinished runs again, now that no new one can appear
        5 one transaction: the offsets, and tombstones for the facts stored next to the old ones

        :returns: the result of the class's `alter_offsets`.
        :raises ConfigError: the request is wrong. :raises DataError: a run has not finished its plan.
        """
        wanted = source_request(request, self._name)  # 1
        view = OffsetView(self._name)
        partitions = self._partitions()
        view.read(self._log, range(partitions), committed=True)
        self._check_finished(view)
        external = self._alter_elsewhere(wanted)  # 2
        with self._taken_over(view, partitions) as producer:  # 3, 4, 5
            for partition, offset in wanted:
                key, outdated = view.offset_keys(partition)
                producer.produce_patiently(self._topic, None if offset is None else offset_value(offset), key)
                for old in [*outdated, facts_key(self._name, partition_identity(partition))]:
                    producer.produce_patiently(self._topic, None, old)
        return external

    def settle(self) -> None:
        """Fence a run in progress, and make sure that none is unfinished: the committed offsets then are final.

        :raises DataError: a run has not finished its plan.
        """
        view = OffsetView(self._name)
        partitions = self._partitions()
        view.read(self._log, range(partitions), committed=True)
        self._check_finished(view)
        with self._taken_over(view, partitions):
            pass

    def reset(self) -> bool:
        """Remove every record of the connector from the offset topic, even unreadable ones.

        An unfinished plan is dropped: what its splits have written stays in the topics.

        :returns: the result of the class's `alter_offsets`.
        """
        records = _LiveRecords(self._name)
        partitions = self._partitions()
        self._log.read(range(partitions), records.add, committed=True)
        external = self._alter_elsewhere([(partition, None) for partition in records.source_partitions()])
        with self._fence.driver(_DOING) as producer:
            self._fence.take_over(producer, self._log, partitions, records, _DOING, self._tasks_max)
            producer.begin()
            for key, partition in records.keys_and_partitions():
                producer.produce_patiently(self._topic, None, key, partition)
            producer.commit()
        return external

    @contextmanager
    def _taken_over(self, view: OffsetView, partitions: int) -> Iterator[CommittingProducer]:
        """A transaction that no run can interfere with; it removes what runs have left in the offset topic.

        :param view: up to what is committed; it is brought up to date.
        :raises DataError: a run has not finished its plan.
        """
        with self._fence.driver(_DOING) as producer:
            self._fence.take_over(producer, self._log, partitions, view, _DOING, self._tasks_max)
            view.check_readable()
            self._check_finished(view)
            producer.begin()
            yield producer
            for own, key_and_partition in view.of_runs():
                producer.produce_patiently(self._topic, None, own, key_and_partition)
            producer.commit()

    def _reader(self, patience_s: float) -> CompactedLog:
        config = self._clients.consumer(f"connect-{self._name}-offsets")
        return CompactedLog(self._admin, config, self._topic, patience_s)

    def _alter_elsewhere(self, changes: list[OffsetChange]) -> bool:
        """Have the class check the changes, and alter what it stores itself; returns whether it does.

        :raises ConfigError: it refuses.
        """
        if self._config.hosted is not None:
            return self._ask is not None and self._ask(changes)
        plugin = cast("type[SourceConnector]", registry().connector(self._config.connector_class))
        return plugin.alter_offsets(self._config.props, changes)

    def _partitions(self) -> int:
        self._admin.check_reachable()
        return ensure_offset_topic(self._admin, self._worker, self._topic)

    def _check_finished(self, view: OffsetView) -> None:
        if view.plan is not None:
            raise DataError(
                f"connector {self._name}: run {view.plan.run_id} is not finished, and its plan would override altered"
                " offsets. Resume the connector and run it again: it finishes the plan. Or reset its offsets, which"
                " removes the plan"
            )

    @property
    def _tasks_max(self) -> int:
        return int(self._config.common["tasks.max"])


class _LiveRecords:
    """The connector's records in the offset topic, by key and Kafka partition; they need not be readable."""

    def __init__(self, connector: str) -> None:
        self._connector = connector
        self._live: dict[tuple[bytes, int], tuple[list[Any], bytes]] = {}

    def add(self, record: LogRecord) -> None:
        """Process one record of the topic."""
        key = self._own_key(record.key)
        if key is None or record.key is None:
            return
        self._live.pop((record.key, record.partition), None)
        if record.value is not None:
            self._live[record.key, record.partition] = (key, record.value)

    def _own_key(self, data: bytes | None) -> list[Any] | None:
        try:
            key = json.loads(data or b"null")
        except (ValueError, RecursionError):
            return None
        match key:
            case ["kconnect", "sink", *_]:
                return None
            case ["kconnect", str(), str(name), *_] | [str(name), *_] if name == self._connector:
                return list(key)
        return None

    def keys_and_partitions(self) -> list[tuple[bytes, int]]:
        """(key, Kafka partition) pairs: a key that another partitioner has written elsewhere is removed there."""
        return list(self._live)

    def source_partitions(self) -> list[dict[str, Any]]:
        """The source partitions that have an offset."""
        return [key[1] for key, _ in self._live.values() if len(key) == 2 and isinstance(key[1], dict)]

    @property
    def tasks(self) -> int:
        """How many transactional ids an unfinished plan has in use, as far as that can be read."""
        return max(
            (_tasks_of(value) for key, value in self._live.values() if key[:2] == ["kconnect", "plan"]), default=0
        )


def _tasks_of(plan: bytes) -> int:
    try:
        return PlanRecord.decode(plan).tasks
    except (ValueError, TypeError, KeyError, RecursionError):
        return 0
