"""A connector's and a worker's configuration in a task: from dicts and connections to the input of runs and clients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_kconnect.hooks.connections import connection_worker_keys
from airflow_kconnect.hooks.masking import register_secret, register_secrets
from airflow_kconnect.hooks.variables import Lookup, look_up, with_login
from airflow_kconnect.submit.operations import registered_name
from airflow_kconnect.submit.preflight import connector_config
from airflow_kconnect.submit.registered import Connector, read_registered, registered_config
from airflow_kconnect.submit.worker_defaults import with_defaults
from airflow_kconnect.variables.resolver import ConfigResolver

if TYPE_CHECKING:
    from airflow_kconnect.stores.config_topic.state import ClusterConfig


@dataclass(frozen=True)
class Configurations:
    """What a task needs to run a connector. Its repr shows no values: they may be secrets.

    :param config: the connector's configuration, variables not resolved, including the login of a database connection.
    :param worker: the worker's keys, variables not resolved.
    :param variables: values of Airflow's variables in both, for `RunSpec` and `check_configuration`.
    """

    config: dict[str, Any] = field(repr=False)
    worker: dict[str, Any] = field(repr=False)
    variables: dict[str, str] = field(repr=False)

    def resolved(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Both with all their variables resolved, for what a task does without a job: querying Kafka, ...

        Files and environment are those of this machine. All values are registered with Airflow's masker.

        :raises ConfigError: with all variables that have no value.
        """
        resolver = ConfigResolver.from_worker(self.worker, self.variables)
        worker, config = resolver.resolve(self.worker), resolver.resolve(self.config)
        for value in resolver.secrets:
            register_secret(value)
        return config, worker

    def resolved_worker(self) -> dict[str, Any]:
        """The worker's keys with their variables resolved; otherwise as `resolved`."""
        return Configurations({}, self.worker, self.variables).resolved()[1]


class TaskWorker:
    """The worker's keys in a task, to be combined with the configurations of connectors.

    What it has looked up in Airflow for one of them it does not look up again. Created in a task (or in a thread of a
    trigger), never when a DAG is parsed. Makes no connection to a broker. Airflow masks all secrets.

    :param worker_config: worker keys; they override those of the connection.
    :param kafka_conn_id: a connection of type `kconnect` or `kafka`; None if `worker_config` is enough.
    :ivar keys: the worker's keys, variables not resolved.
    :raises ConfigError: the connection is missing or wrong.
    """

    def __init__(self, worker_config: Mapping[str, Any] | None, kafka_conn_id: str | None) -> None:
        connection = {} if kafka_conn_id is None else connection_worker_keys(kafka_conn_id)
        self.keys = with_defaults({**connection, **(worker_config or {})})
        register_secrets(self.keys)
        self._lookup = Lookup(self.keys)

    def configurations(self, config: Mapping[str, Any]) -> Configurations:
        """A connector's configuration with the worker's, and Airflow's variables in both.

        :param config: variables not resolved; empty if only Kafka matters.
        :raises ConfigError: variables have no value.
        """
        register_secrets(config)
        config = with_login(config, self.keys, self._lookup)
        return Configurations(config, self.keys, look_up(config, self.keys, self._lookup))


def configurations(
    config: Mapping[str, Any],
    worker_config: Mapping[str, Any] | None,
    kafka_conn_id: str | None,
) -> Configurations:
    """The configurations of one connector and its worker; see `TaskWorker`.

    :param config: the connector's configuration; empty if only Kafka matters.
    :raises ConfigError: the connection is missing or wrong, or variables have no value.
    """
    return TaskWorker(worker_config, kafka_conn_id).configurations(config)


def given_config(
    connector: Connector, folder: Path | None, worker_config: Mapping[str, Any] | None, kafka_conn_id: str | None
) -> dict[str, Any]:
    """The configuration of a connector, variables not resolved; that of a registered one is read from Kafka.

    Called in a task, never when a DAG is parsed. Airflow masks the literal secrets of a registered connector.

    :param connector: as for the operators. :param folder: base folder of relative paths.
    :param worker_config: worker keys; they override those of the connection.
    :raises ConfigError: it is not a configuration, or there is no connector of this name.
    :raises RetriableError: the broker is unavailable.
    """
    if registered_name(connector, folder) is None:
        return connector_config(connector, folder)
    registered = RegisteredConfigs(TaskWorker(worker_config, kafka_conn_id).configurations({}))
    return registered.config(connector, folder)


class RegisteredConfigs:
    """The configurations of connectors that are registered, or given otherwise. The config topic is read once.

    :param worker: of the worker alone.
    """

    def __init__(self, worker: Configurations) -> None:
        self._worker = worker

    def config(self, connector: Connector, folder: Path | None) -> dict[str, Any]:
        """The configuration of a connector; see `given_config`."""
        name = registered_name(connector, folder)
        if name is None:
            return connector_config(connector, folder)
        config = registered_config(name, self._keys, cluster=self._cluster)
        register_secrets(config)
        return dict(config)

    @cached_property
    def _keys(self) -> dict[str, Any]:
        return self._worker.resolved()[1]

    @cached_property
    def _cluster(self) -> ClusterConfig:
        return read_registered(self._keys)
