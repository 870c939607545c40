"""The topics behind the control plane: connectors and target states in one, statuses in the other."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from airflow_kconnect.connect.errors import FencedError, RetriableError
from airflow_kconnect.control import loggers
from airflow_kconnect.control.errors import AlreadyExistsError, NotFoundError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.log import OpenTransactionError
from airflow_kconnect.stores.config_topic.state import ClusterConfig, ConnectorState
from airflow_kconnect.stores.config_topic.store import ConfigStore
from airflow_kconnect.stores.config_topic.writer import ConfigWriter
from airflow_kconnect.stores.status_topic.records import State, Status
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns
from airflow_kconnect.stores.status_topic.state import ConnectorStatus
from airflow_kconnect.stores.status_topic.store import StatusStore
from airflow_kconnect.stores.target_states import TargetState
from airflow_kconnect.variables.resolver import ConfigResolver
from airflow_kconnect.worker_config.keys import WorkerConfig

_FIRST_READ_S = 20.0
_OPEN_TRANSACTION_S = 3.0
_ATTEMPTS = 10
_PAUSE_S = 0.1


class ControlStores:
    """Reads both topics, and writes to them. Thread-safe; starts with the first question.

    :param props: the worker's keys, as they were written.
    :param variables: values of Airflow's variables in them, as in `RunSpec`.
    :param follow: keep reading in the background: for servers. Without it what is new is read after writes only.
    :raises ConfigError: they are wrong.
    """

    def __init__(
        self, props: Mapping[str, Any], variables: Mapping[str, str] | None = None, *, follow: bool = True
    ) -> None:
        self.worker = worker = WorkerConfig.from_props(ConfigResolver.from_worker(props, variables).resolve(props))
        self._admin = KafkaAdmin(ClientConfigs(worker.props).admin())
        self._configs = ConfigStore(worker, follow=follow, on_logger=loggers.follow if follow else None)
        self._statuses = StatusStore(worker, follow=follow)
        self._worker_id = f"{socket.gethostname()}:kconnect"
        self._read = False
        self._closed = threading.Event()

    def cluster_id(self) -> str:
        """Id of the Kafka cluster. :raises RetriableError: no broker answers."""
        return self._admin.cluster()[0]

    def read_to_end(self) -> None:
        """Return once everything that is committed in the topics now is known.

        :raises RetriableError: no broker answers.
        """
        # Both topics are read at the same time.
        self._configs.start()
        self._statuses.start()
        self._read_configs()
        self._statuses.refresh(_FIRST_READ_S)
        self._read = True

    def _read_configs(self) -> None:
        deadline = time.monotonic() + _FIRST_READ_S
        while True:
            try:
                self._configs.refresh(_OPEN_TRANSACTION_S)
                return
            except OpenTransactionError:
                return  # of a writer that was killed, most likely; the next change ends it
            except RetriableError:
                if self._closed.wait(_PAUSE_S) or time.monotonic() > deadline:
                    raise

    @property
    def problem(self) -> str | None:
        """Why what is known may be old; None if it is not."""
        healths = (self._configs.health, self._statuses.health) if self._read else ()
        return next((health.why for health in healths if health is not None and not health.reading), None)

    def configs(self) -> Mapping[str, ConnectorState]:
        """All registered connectors, by name. :raises RetriableError: the topic was never read."""
        return self._known().connectors

    def unreadable(self) -> Mapping[str, str]:
        """Registered connectors whose configuration cannot be read: why."""
        return self._known().unreadable

    def config(self, name: str) -> ConnectorState | None:
        """A registered connector. :raises DataError: its configuration cannot be read."""
        self._wait_for_first_read()
        return self._configs.connector(name)

    def status(self, name: str) -> ConnectorStatus:
        """What runs and requests have written about a connector."""
        self._wait_for_first_read()
        return self._statuses.connector(name)

    def statuses(self) -> dict[str, ConnectorStatus]:
        """What runs and requests have written about all connectors, registered or not."""
        self._wait_for_first_read()
        return self._statuses.connectors()

    def runs(self, name: str) -> ConnectorRuns | None:
        """What the runs of a connector have told; None if none has."""
        self._wait_for_first_read()
        return self._statuses.runs(name)

    def all_runs(self) -> dict[str, ConnectorRuns]:
        """What the runs of all connectors have told, registered or not."""
        self._wait_for_first_read()
        return self._statuses.all_runs()

    def target_states(self) -> Mapping[str, TargetState]:
        """All that are recorded, registered or not."""
        return self._known().target_states

    def create(self, name: str, config: Mapping[str, str], initial: TargetState | None) -> None:
        """Register a connector. :raises AlreadyExistsError: it is registered already."""

        def write(writer: ConfigWriter, known: ClusterConfig) -> None:
            if name in known.connectors:
                raise AlreadyExistsError(f"Connector {name} already exists")
            writer.put_connector(name, config, initial)

        self._write(write)

    def put_config(self, name: str, config: Mapping[str, str]) -> None:
        """Replace the configuration of a connector. :raises NotFoundError: it was deleted meanwhile."""
        self._change(name, lambda writer: writer.put_connector(name, config))

    def put_target_states(self, names: Iterable[str], state: TargetState) -> None:
        """Pause, resume or stop connectors."""
        self._configs.put_target_states(names, state)

    def put_logger_level(self, logger: str, level: str) -> None:
        """Set the level of a logger in all processes that follow the topic."""
        self._configs.put_logger_level(logger, level)

    def delete(self, name: str) -> None:
        """Forget a connector: configuration, target state, statuses, topics. :raises NotFoundError: there is none."""
        self._change(name, lambda writer: writer.remove_connector(name))
        self._statuses.remove(name)
        self._statuses.refresh()

    def put_states(self, state: State, connectors: Mapping[str, tuple[str | None, Iterable[int]]]) -> None:
        """Say what connectors and their tasks do; the tasks of a stopped one are gone.

        :param connectors: name -> version of its class, and its tasks.
        """
        self._statuses.put_all_states(
            (name, Status(state, self._worker_id, 0, version=version), tasks)
            for name, (version, tasks) in connectors.items()
        )
        self._statuses.refresh()

    def forget_topics(self, name: str) -> None:
        """Forget which topics a connector has used."""
        self._statuses.reset_topics(name)
        self._statuses.refresh()

    def close(self) -> None:
        """End the threads; questions that still wait for the first read are refused."""
        self._closed.set()
        self._configs.close()
        self._statuses.close()

    def _known(self) -> ClusterConfig:
        self._wait_for_first_read()
        return self._configs.snapshot()

    def _wait_for_first_read(self) -> None:
        """The first question waits for the topics to be read; later ones are answered from what is known."""
        if not self._read:
            self.read_to_end()

    def _change(self, name: str, change: Callable[[ConfigWriter], object]) -> None:
        def write(writer: ConfigWriter, known: ClusterConfig) -> None:
            if name not in known.connectors:
                raise NotFoundError(f"Connector {name} not found")
            change(writer)

        self._write(write)

    def _write(self, write: Callable[[ConfigWriter, ClusterConfig], None]) -> None:
        """Decide on what was written before, and write; again if another writer of the group came between."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with self._configs.writing() as writer:
                    write(writer, self._configs.snapshot())
                return
            except FencedError:
                if attempt == _ATTEMPTS:
                    raise
                time.sleep(random.uniform(0, _PAUSE_S * attempt))
