"""This side of a migration: the worker's topics, where states, offsets and handovers of connectors are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.connectors.table.iceberg.control_topic import files_left
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.stores.handovers import Handover, HandoverRecords
from airflow_kconnect.submit import operations
from airflow_kconnect.submit.operations import STOPPED
from airflow_kconnect.variables.resolver import ConfigResolver
from airflow_kconnect.worker_config.keys import WorkerConfig

Offsets = list[dict[str, Any]]


class Here:
    """What a worker file names.

    Configurations are passed as they were written; their variables are resolved where their values are needed, and
    errors quote the variables.

    :param worker: the worker's keys, variables not resolved.
    :raises ConfigError: a key is wrong, or a variable of the worker has no value.
    """

    def __init__(self, worker: Mapping[str, Any]) -> None:
        self.props = dict(worker)
        self._resolver = ConfigResolver.from_worker(worker)
        with self._resolver.hidden_in_errors():
            self._keys = self._resolver.resolve(worker)
            self.worker = WorkerConfig.from_props(self._keys)
            self._admin = GroupAdmin(ClientConfigs(self.worker.props).admin())
            self._records = HandoverRecords(self.worker)

    def kafka_cluster(self) -> str:
        """Id of the Kafka cluster. :raises RetriableError: no broker can be reached."""
        self._admin.check_reachable()
        return self._admin.cluster()[0]

    def problem_of_config_topic(self) -> str | None:
        """Why connectors cannot be handed over with this ``config.storage.topic``, if it is Connect's own."""
        connectors = sorted(self._records.connectors_of_connect())
        if not connectors:
            return None
        names = ", ".join(connectors[:3]) + (", ..." if len(connectors) > 3 else "")
        return (
            f"`config.storage.topic`: {self.worker.config_topic} is the topic in which a Connect cluster keeps its "
            f"connectors ({names}). One that is stopped there would be stopped here too: name another topic, such as "
            "kconnect-configs, which is created"
        )

    def has_workers_in_group(self) -> bool:
        """Whether live workers of a Connect cluster have the ``group.id`` that is used here."""
        return self._admin.has_members(self.worker.group_id, "connect")

    def handover(self, name: str) -> Handover | None:
        """How far a connector has moved."""
        return self._records.read(name)

    def record(self, name: str, handover: Handover) -> None:
        """Note how far a connector has moved."""
        self._records.write(name, handover)

    def state(self, name: str) -> str:
        """The target state of a connector: STARTED, PAUSED or STOPPED."""
        return operations.target_state(name, self._keys)

    def set_state(self, name: str, state: str) -> None:
        """Set the target state of a connector."""
        if self.state(name) != state:
            operations.set_target_state(name, state, self._keys)

    def resolved(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """A configuration with the values of its variables. :raises ConfigError: one has no value on this machine."""
        return self._resolver.resolve(config)

    def offsets(self, config: Mapping[str, Any]) -> Offsets:
        """The committed offsets of a connector, as Connect's REST API shows them."""
        with self._resolver.hidden_in_errors():
            return operations.show_offsets(self.resolved(config), self._keys)

    def alter_offsets(self, config: Mapping[str, Any], offsets: Sequence[Mapping[str, Any]]) -> str:
        """Replace committed offsets of a stopped connector; runs in progress are fenced."""
        with self._resolver.hidden_in_errors():
            return operations.alter_offsets(self.resolved(config), self._keys, list(offsets))

    def files_left(self, config: Mapping[str, Any]) -> str | None:
        """Why an Iceberg sink that is stopped in Connect must not be moved yet: see `control_topic.files_left`."""
        with self._resolver.hidden_in_errors():
            clients = ClientConfigs(self.worker.props)
            return files_left(self._admin, clients, texts_of(self.resolved(config))[0])

    def settle(self, config: Mapping[str, Any], name: str) -> None:
        """Stop a connector here and fence a run in progress; afterwards its offsets are final.

        :raises DataError: a run has not finished its plan. The connector's target state is then what it was before.
        """
        before = self.state(name)
        self.set_state(name, STOPPED)
        try:
            with self._resolver.hidden_in_errors():
                operations.settle_offsets(self.resolved(config), self._keys)
        except Exception:
            self.set_state(name, before)
            raise
