"""The config topic of a worker: a view of it, and its writers."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log_follower import Health, LogFollower
from airflow_kconnect.kafka.log_reader import LogReader
from airflow_kconnect.kafka.producers import FlushingProducer, new_producer
from airflow_kconnect.stores import transactional_ids
from airflow_kconnect.stores.config_topic import records
from airflow_kconnect.stores.config_topic.records import RecordKey
from airflow_kconnect.stores.config_topic.state import ClusterConfig, ConfigTopicState, ConnectorState, OnLogger
from airflow_kconnect.stores.config_topic.writer import ConfigWriter
from airflow_kconnect.stores.target_states import TargetState, encode_target_state
from airflow_kconnect.stores.topics import check_config_topic, ensure_config_topic
from airflow_kconnect.worker_config.keys import WorkerConfig

_TIMEOUT_S = 30.0  # as `READ_WRITE_TOTAL_TIMEOUT_MS` in Connect


class ConfigStore:
    """Connectors and target states of a worker group. Thread-safe; close it when done.

    What this store has written it also reads: each write returns after the topic was read to its end.

    :param worker: variables resolved; its ``config.storage.topic`` is used.
    :param follow: keep a thread that follows the topic: for servers. Without it the topic is read when asked.
    :param on_logger: see `ConfigTopicState`; must not call the store.
    :raises ConfigError: a setting in the worker's client configuration is not supported.
    """

    def __init__(self, worker: WorkerConfig, *, follow: bool = False, on_logger: OnLogger | None = None) -> None:
        self._worker, self._topic = worker, worker.config_topic
        self._clients = ClientConfigs(worker.props)
        self._admin = KafkaAdmin(self._clients.admin())
        view = LogFollower if follow else LogReader
        self._view: LogFollower[ConfigTopicState] | LogReader[ConfigTopicState] = view(
            self._clients, self._topic, lambda: ConfigTopicState(on_logger), f"{worker.group_id}-configs"
        )
        self._writing = threading.Lock()
        self._checked = False

    def start(self) -> None:
        """Begin to follow the topic, if it is followed; does not wait. :raises RetriableError: it was closed."""
        if isinstance(self._view, LogFollower):
            self._view.start()

    def snapshot(self) -> ClusterConfig:
        """What is known, without a request.

        :raises RetriableError: a followed topic has never been read; the text says why.
        """
        return self._view.look(ConfigTopicState.snapshot)

    def connector(self, name: str) -> ConnectorState | None:
        """What is known about one connector, without a request; None if there is none of this name.

        :raises DataError: its configuration cannot be read. :raises RetriableError: as `snapshot`.
        """
        return self._view.look(lambda state: state.connector(name))

    def refresh(self, timeout_s: float = _TIMEOUT_S) -> ClusterConfig:
        """What the topic says now.

        :raises ConfigError: the topic has several partitions, or reading it is not permitted.
        :raises RetriableError: the broker is unavailable, or an open transaction blocks the end.
        """
        self._check()
        self._view.read_to_end(timeout_s)
        return self.snapshot()

    @property
    def health(self) -> Health | None:
        """Whether the topic is being followed; None if it is only read when asked."""
        return self._view.health if isinstance(self._view, LogFollower) else None

    @contextmanager
    def writing(self) -> Iterator[ConfigWriter]:
        """The single writer: it fences all others of the worker group, also Connect's leader, which then takes over
        again for its own next write. If `exactly.once.source.support` is disabled, no one fences.

        The topic is created if it is missing, and read to its end before the block begins.

        :raises ConfigError: the topic is not what Connect needs, or writing it is not permitted.
        :raises RetriableError: the broker is unavailable.
        """
        with self._writing:
            self._ensure()
            leader = transactional_ids.leader_id(self._worker.group_id) if self._worker.single_writer else None
            producer = new_producer(self._clients.producer(leader), f"writing to {self._topic}")
            try:
                self.refresh()
                yield ConfigWriter(producer, self._topic, self.refresh)
            finally:
                producer.close()

    def put_target_states(self, names: Iterable[str], state: TargetState) -> ClusterConfig:
        """Set the target state of connectors; fences no one, as in Connect. Raises what `writing` does."""
        return self._put({RecordKey(records.TARGET_STATE, name): encode_target_state(state) for name in names})

    def put_logger_level(self, logger: str, level: str) -> None:
        """Set the level of a logger on all workers (KIP-976); fences no one. Raises what `writing` does."""
        self._put({RecordKey(records.LOGGER, logger): records.encode_logger_level(level)})

    def close(self) -> None:
        """Stop following."""
        self._view.close()

    def _put(self, written: Mapping[RecordKey, bytes]) -> ClusterConfig:
        self._ensure()
        producer = FlushingProducer(self._clients.small_producer(), f"writing to {self._topic}")
        try:
            for key, value in written.items():
                producer.produce_patiently(self._topic, value, key.encode(), 0)
            producer.flush()
        finally:
            producer.close()
        return self.refresh()

    def _check(self) -> None:
        if not self._checked:
            self._checked = check_config_topic(self._topic, self._admin.check_reachable().get(self._topic, 0))

    def _ensure(self) -> None:
        self._admin.check_reachable()
        check_config_topic(self._topic, ensure_config_topic(self._admin, self._worker))
