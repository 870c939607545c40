"""The status topic of a worker: a view of it, and writes as `KafkaStatusBackingStore` of Kafka Connect makes them."""

from __future__ import annotations

from collections.abc import Iterable

from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log_follower import Health, LogFollower
from airflow_kconnect.kafka.log_reader import LogReader
from airflow_kconnect.kafka.producers import FlushingProducer
from airflow_kconnect.stores.status_topic.records import (
    ConnectorKey,
    State,
    Status,
    StatusKey,
    TaskKey,
    TopicKey,
)
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunsKey
from airflow_kconnect.stores.status_topic.state import ConnectorStatus, StatusTopicState
from airflow_kconnect.stores.topics import ensure_status_topic
from airflow_kconnect.worker_config.keys import WorkerConfig

_TIMEOUT_S = 30.0


class StatusStore:
    """Statuses of connectors and tasks, the topics they use, and their runs. Thread-safe; close it when done.

    Writes are durable when they return. They raise `ConfigError` if the topic is not compacted or may not be written,
    and `RetriableError` if the broker is unavailable.

    :param worker: variables resolved; its ``status.storage.topic`` is used.
    :param follow: keep a thread that follows the topic: for servers. Without it the topic is read when asked.
    :raises ConfigError: a setting in the worker's client configuration is not supported.
    """

    def __init__(self, worker: WorkerConfig, *, follow: bool = False) -> None:
        self._worker, self._topic = worker, worker.status_topic
        self._clients = ClientConfigs(worker.props)
        self._admin = KafkaAdmin(self._clients.admin())
        view = LogFollower if follow else LogReader
        self._view: LogFollower[StatusTopicState] | LogReader[StatusTopicState] = view(
            self._clients, self._topic, StatusTopicState, f"{worker.group_id}-status"
        )
        self._ensured = False

    def start(self) -> None:
        """Begin to follow the topic, if it is followed; does not wait. :raises RetriableError: it was closed."""
        if isinstance(self._view, LogFollower):
            self._view.start()

    def connector(self, name: str) -> ConnectorStatus:
        """What is known about a connector, without a request.

        :raises RetriableError: a followed topic has never been read; the text says why.
        """
        return self._view.look(lambda state: state.connector(name))

    def connectors(self) -> dict[str, ConnectorStatus]:
        """What is known about all connectors, without a request. Raises what `connector` does."""
        return self._view.look(StatusTopicState.connectors)

    def runs(self, connector: str) -> ConnectorRuns | None:
        """What the runs of a connector have told; None if none has. Makes no request; raises what `connector` does."""
        return self._view.look(lambda state: state.runs(connector))

    def all_runs(self) -> dict[str, ConnectorRuns]:
        """What all runs have told, by connector, registered or not. Makes no request; raises what `connector` does."""
        return self._view.look(StatusTopicState.all_runs)

    def refresh(self, timeout_s: float = _TIMEOUT_S) -> None:
        """Read to the end of the topic, or to the first open transaction.

        :raises ConfigError: reading the topic is not permitted. :raises RetriableError: the broker is unavailable.
        """
        self._view.read_to_end(timeout_s, committed=True)

    @property
    def health(self) -> Health | None:
        """Whether the topic is being followed; None if it is only read when asked."""
        return self._view.health if isinstance(self._view, LogFollower) else None

    def put_states(self, connector: str, status: Status, tasks: Iterable[int]) -> None:
        """Write the status of a connector and of its tasks; the tasks of a stopped one are removed, as in Connect."""
        self.put_all_states([(connector, status, tasks)])

    def put_all_states(self, connectors: Iterable[tuple[str, Status, Iterable[int]]]) -> None:
        """The same of several connectors, each with its tasks."""
        written: list[tuple[bytes, bytes | None]] = []
        for connector, status, tasks in connectors:
            of_tasks = None if status.state is State.STOPPED else status.encode()
            written += [(TaskKey(connector, task).encode(), of_tasks) for task in tasks]
            written.append((ConnectorKey(connector).encode(), status.encode()))
        self._send(*written)

    def reset_topics(self, connector: str) -> None:
        """Forget which topics a connector uses (KIP-558)."""
        self.refresh()
        self._send(*((TopicKey(connector, topic).encode(), None) for topic in self.connector(connector).topics))

    def remove(self, connector: str) -> None:
        """Forget a connector with its tasks, topics and runs, after it was deleted."""
        self.refresh()
        known = self.connector(connector)
        keys: list[StatusKey | TopicKey | RunsKey] = [TaskKey(connector, task) for task in known.tasks]
        keys += [*(TopicKey(connector, topic) for topic in known.topics), ConnectorKey(connector)]
        keys += [RunsKey(connector)] if self.runs(connector) is not None else []
        self._send(*((key.encode(), None) for key in keys))

    def close(self) -> None:
        """Stop following."""
        self._view.close()

    def _send(self, *written: tuple[bytes, bytes | None]) -> None:
        if not written:
            return
        if not self._ensured:
            self._admin.check_reachable()
            ensure_status_topic(self._admin, self._worker)
            self._ensured = True
        producer = FlushingProducer(self._clients.small_producer(), f"writing to {self._topic}")
        try:
            for key, value in written:
                producer.produce_patiently(self._topic, value, key)
            producer.flush()
        finally:
            producer.close()
