"""The hook for Kafka connections: a client, and everything that can be done with a connector besides running it.

The operators and `@task` functions call the same methods.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseHook, get_current_context

from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.errors import connector_error
from airflow_kconnect.hooks.connections import connection_worker_keys
from airflow_kconnect.hooks.masking import masked
from airflow_kconnect.hooks.worker import Configurations, configurations, given_config
from airflow_kconnect.submit import operations
from airflow_kconnect.submit.registered import Connector, RegisteredConnector
from airflow_kconnect.submit.worker_defaults import with_defaults
from airflow_kconnect.variables.syntax import has_reference
from airflow_kconnect.worker_config.keys import WorkerConfig

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

TEST_TIMEOUT_S = 4.0


class KafkaConnectHook(BaseHook):
    """What a task can query about a connector, and do with it, besides running it; needs neither Spark nor Connect.

    .. code-block:: python

        @task.short_circuit
        def enough_to_write() -> bool:
            return KafkaConnectHook().lag("orders-sink.json")["records"] >= 10_000

    There is no `run()`: a run is a Spark job with its own retries, progress and termination; use `KafkaSourceOperator`
    and `KafkaSinkOperator` for that.

    A `connector` is given as for the operators: Connect's JSON as a dict or a string, the path of a file, absolute or
    relative to the DAG file, or the name of a registered connector. Where a method says that the name is enough, the
    connector need not be registered. Variables such as `${airflow:id:password}`
    and `${env:HOME}` are resolved on this machine, and their values are registered with Airflow's masker.

    All methods that take a connector, and `get_conn`, raise the operators' errors:

    * `ConnectorConfigError`: configuration, request or data are wrong. Airflow does not retry the task.
    * `ConnectorRetriableError`: an external system is unavailable, or still in use.

    :param kafka_conn_id: connection of type `kconnect` or `kafka`; None if `worker_config` is enough.
    :param worker_config: worker keys; they override those of the connection.
    :param folder: base folder of relative paths. Default: the folder of the task's DAG, else the current directory.
    """

    conn_name_attr = "kafka_conn_id"
    default_conn_name = "kafka_default"
    conn_type = "kconnect"
    hook_name = "Kafka Connect on Spark"

    def __init__(
        self,
        kafka_conn_id: str | None = default_conn_name,
        worker_config: Mapping[str, Any] | None = None,
        *,
        folder: Path | None = None,
    ) -> None:
        super().__init__()
        self.kafka_conn_id = kafka_conn_id
        self._worker_config = worker_config
        self._folder = folder

    def worker_config(self) -> dict[str, Any]:
        """Worker keys, variables not resolved. Called in a task; makes no connection to a broker.

        Secrets of the connection are registered with Airflow's masker before this returns.

        :raises ConfigError: there is no such connection, or it does not say how to reach Kafka.
        """
        connection = {} if self.kafka_conn_id is None else connection_worker_keys(self.kafka_conn_id)
        return with_defaults({**connection, **(self._worker_config or {})})

    def get_conn(self) -> AdminClient:
        """A new admin client of confluent_kafka, with the worker's `admin.*` keys. Connects on its first request."""
        from airflow_kconnect.kafka.clients import ClientConfigs
        from airflow_kconnect.kafka.coordinators import admin_client

        with _operators_errors():
            return admin_client(ClientConfigs(WorkerConfig.from_props(self._worker()).props).admin())

    def state(self, connector: Connector) -> str:
        """The target state: `STARTED`, `PAUSED` or `STOPPED`; `STARTED` if none was set. The name is enough."""
        with _operators_errors():
            return operations.target_state(self._name(connector), self._worker())

    def pause(self, connector: Connector, *, force: bool = False) -> dict[str, Any]:
        """Pause a connector: its next runs are skipped, a run in progress is not ended. The name is enough.

        :param force: also if nothing is known of a connector of this name; a configuration or a file needs no `force`.
        :returns: `{"connector": ..., "state": "PAUSED"}`.
        """
        return self._set_state(connector, operations.PAUSED, force)

    def resume(self, connector: Connector, *, force: bool = False) -> dict[str, Any]:
        """Resume a connector that was paused or stopped. The name is enough.

        :param force: as for `pause`.
        :returns: `{"connector": ..., "state": "STARTED"}`.
        """
        return self._set_state(connector, operations.STARTED, force)

    def stop(self, connector: Connector, *, force: bool = False) -> dict[str, Any]:
        """Stop a connector: as `pause`, but its offsets may be altered and reset. The name is enough.

        :param force: as for `pause`.
        :returns: `{"connector": ..., "state": "STOPPED"}`.
        """
        return self._set_state(connector, operations.STOPPED, force)

    def offsets(self, connector: Connector) -> list[dict[str, Any]]:
        """Committed offsets in the format of Connect's REST API, which `alter_offsets` accepts; empty if there are
        none.

        The name is enough, except for connectors with an offset topic or a consumer group of their own.

        :returns: `[{"partition": {...}, "offset": {...}}]`.
        """
        with _operators_errors():
            return operations.show_offsets(*self._name_or_config(connector))

    def lag(self, connector: Connector) -> dict[str, Any]:
        """What a sink still has to read.

        Its name alone is enough if its consumer group is `connect-<name>` and has offsets; topics without committed
        offsets are not counted then.

        :returns: `{"connector", "records", "seconds", "topics": {topic: records}}`. `seconds` is the age of the oldest
            unread record; `topics` has at most 20 topics, those with the most records.
        """
        with _operators_errors():
            return operations.sink_lag(*self._name_or_config(connector))

    def dead_letters(self, connector: Connector) -> dict[str, Any]:
        """The dead letters of a sink that were not replayed yet: how many, and why they failed; not their contents.

        :returns: `{"connector", "topic", "records", "seen", "reasons": [{"connector", "stage", "error", "records",
            "example"}]}`. The reasons are those of the `seen` newest ones, from their headers; a topic that several
            connectors share has letters of the others too.
        """
        with _operators_errors():
            return operations.waiting_dead_letters(*self._configurations(connector).resolved())

    def alter_offsets(
        self, connector: Connector, offsets: Sequence[Mapping[str, Any]] | Mapping[str, Any]
    ) -> dict[str, Any]:
        """Replace committed offsets (KIP-875). The connector must be stopped.

        :param offsets: as for `AlterOffsetsOperator`: `[{"partition": {...}, "offset": {...} or None}]`. Partitions
            that are not named keep their offsets; an offset of None resets one.
        :returns: `{"connector": ..., "message": ...}`.
        """
        with _operators_errors(), operations.ending_questions():
            config, worker = self._configurations(connector).resolved()
            message = operations.alter_offsets(config, worker, offsets)
            return {"connector": operations.connector_name(config), "message": message}

    def reset_offsets(self, connector: Connector) -> dict[str, Any]:
        """Remove all committed offsets and any unfinished plan. The connector must be stopped.

        :returns: `{"connector": ..., "message": ...}`.
        """
        with _operators_errors(), operations.ending_questions():
            config, worker = self._configurations(connector).resolved()
            message = operations.reset_offsets(config, worker)
            return {"connector": operations.connector_name(config), "message": message}

    def validate(self, connector: Connector) -> dict[str, Any]:
        """Check a configuration; the error lists everything that is wrong. Makes no connections.

        What depends on variables is checked by the run.

        :returns: `{"connector": ..., "connector_class": ..., "kind": ..., "warnings": [...]}`.
        """
        with _operators_errors():
            configs = self._configurations(connector)
            return operations.validated(configs.config, configs.worker, configs.variables)

    def test_connection(self) -> tuple[bool, str]:
        """Whether a broker answers, and to which cluster it belongs; takes a few seconds if none does.

        Called by the button in Airflow's connection form, and by `airflow connections test`. The message contains no
        secret.
        """
        # Loads the Kafka client, which nothing else in an API server needs.
        from airflow_kconnect.kafka.admin import KafkaAdmin
        from airflow_kconnect.kafka.clients import ClientConfigs

        try:
            worker = WorkerConfig.from_props(_literal(self.worker_config()))
            admin = KafkaAdmin(ClientConfigs(worker.props).admin(), timeout_s=TEST_TIMEOUT_S)
            admin.check_reachable()
            cluster, brokers = admin.cluster()
        except ConnectError as error:
            return False, masked(str(error))
        return True, f"Kafka cluster {cluster} answers; it has {brokers} broker{'' if brokers == 1 else 's'}"

    def _set_state(self, connector: Connector, state: str, force: bool) -> dict[str, Any]:
        only_named = operations.is_name(connector) or isinstance(connector, RegisteredConnector)
        with _operators_errors():
            name = self._name(connector)
            operations.set_target_state(name, state, self._worker(), force=force or not only_named)
        return {"connector": name, "state": state}

    def _name(self, connector: Connector) -> str:
        return operations.connector_name(connector, self._paths_from())

    def _name_or_config(self, connector: Connector) -> tuple[Mapping[str, Any] | str, dict[str, Any]]:
        if operations.is_name(connector):
            return connector.strip(), self._worker()
        return self._configurations(connector).resolved()

    def _worker(self) -> dict[str, Any]:
        return configurations({}, self._worker_config, self.kafka_conn_id).resolved()[1]

    def _configurations(self, connector: Connector) -> Configurations:
        config = given_config(connector, self._paths_from(), self._worker_config, self.kafka_conn_id)
        return configurations(config, self._worker_config, self.kafka_conn_id)

    def _paths_from(self) -> Path | None:
        if self._folder is not None:
            return self._folder
        try:
            return Path(get_current_context()["dag"].folder)
        except RuntimeError:  # not in a task
            return None


@contextmanager
def _operators_errors() -> Iterator[None]:
    """Turn a `ConnectError` into the operators' error, by which Airflow decides whether to retry."""
    try:
        yield
    except ConnectError as error:
        raise connector_error(error.exit_code, str(error), type(error).__name__) from None


def _literal(worker: Mapping[str, Any]) -> Mapping[str, Any]:
    errors = {
        key: ["is a variable, which a task resolves; run a task to test it"]
        for key, value in worker.items()
        if has_reference(value)
    }
    if errors:
        raise ConfigError(errors)
    return worker
