"""Operators that do something with a connector besides running it: target state, offsets, validation, dead letters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.hooks.worker import Configurations, configurations
from airflow_kconnect.local import operations
from airflow_kconnect.local.preflight import connector_config
from airflow_kconnect.operators.errors import connector_error
from airflow_kconnect.operators.kafka_connect import KafkaSinkOperator
from airflow_kconnect.operators.rendering import RendersConnector

if TYPE_CHECKING:
    from airflow.sdk import Context


class ConnectorOperationOperator(RendersConnector):
    """What these operators share. They need neither Spark nor a Connect cluster, and return a small dict.

    :param connector: the connector, as for `KafkaSourceOperator`: Connect's JSON, or the path of a file, absolute or
        relative to the DAG file. (templated)
    :param worker_config: worker keys; they win over those of the Kafka connection. Not templated.
    :param kafka_conn_id: Airflow connection of type `kconnect` or `kafka`; None if `worker_config` suffices.
        (templated)
    """

    template_fields: Sequence[str] = ("connector", "kafka_conn_id")
    template_fields_renderers: ClassVar[dict[str, str]] = {"connector": "json"}
    ui_color = "#f3e8fd"

    def __init__(
        self,
        *,
        connector: Mapping[str, Any] | str | Path,
        worker_config: Mapping[str, Any] | None = None,
        kafka_conn_id: str | None = "kafka_default",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.connector = connector
        self.worker_config = worker_config
        self.kafka_conn_id = kafka_conn_id

    def execute(self, context: Context) -> dict[str, Any]:
        """Do it; returns what was done.

        :raises ConnectorConfigError: configuration, request or data are wrong; a retry would not help.
        :raises ConnectorRetriableError: something outside is away, or still in use.
        """
        try:
            done = self._operate()
        except ConnectError as error:
            raise connector_error(error.exit_code, str(error)) from None
        self.log.info("%s", done)
        return done

    @abstractmethod
    def _operate(self) -> dict[str, Any]:
        """:raises ConnectError: whatever went wrong."""

    def _configurations(self) -> Configurations:
        config = connector_config(self.connector, self._dag_folder())
        return configurations(config, self.worker_config, self.kafka_conn_id)

    def _dag_folder(self) -> Path | None:
        dag = self.get_dag()
        return None if dag is None else Path(dag.folder)


class _TargetStateOperator(ConnectorOperationOperator):
    """Sets the target state; `connector` may be the name alone."""

    state: ClassVar[str]

    def _operate(self) -> dict[str, Any]:
        name = operations.connector_name(self.connector, self._dag_folder())
        _, worker = configurations({}, self.worker_config, self.kafka_conn_id).resolved()
        operations.set_target_state(name, self.state, worker)
        return {"connector": name, "state": self.state}


class PauseConnectorOperator(_TargetStateOperator):
    """Pauses a connector: its next runs are skipped. One that goes on is not ended. Replays run as before.

    Parameters: see `ConnectorOperationOperator`; `connector` may be the name alone.
    Returns `{"connector": ..., "state": "PAUSED"}`.
    """

    state = operations.PAUSED


class ResumeConnectorOperator(_TargetStateOperator):
    """Resumes a connector that was paused or stopped: its next run goes on from the committed offsets.

    Parameters: see `ConnectorOperationOperator`; `connector` may be the name alone.
    Returns `{"connector": ..., "state": "STARTED"}`.
    """

    state = operations.STARTED


class StopConnectorOperator(_TargetStateOperator):
    """Stops a connector: as if paused, and its offsets may be altered and reset.

    Parameters: see `ConnectorOperationOperator`; `connector` may be the name alone.
    Returns `{"connector": ..., "state": "STOPPED"}`.
    """

    state = operations.STOPPED


class AlterOffsetsOperator(ConnectorOperationOperator):
    """Puts other offsets in the place of committed ones (KIP-875). The connector must be stopped.

    .. code-block:: python

        AlterOffsetsOperator(
            task_id="read_again_from_line_2",
            connector="orders-source.json",
            offsets=[{"partition": {"filename": "/data/orders.csv"}, "offset": {"position": 14}}],
        )

    Parameters: see `ConnectorOperationOperator`. Returns `{"connector": ..., "message": ...}`.

    :param offsets: Connect's request, `{"offsets": [...]}` or the list in it. Of a sink:
        `{"partition": {"kafka_topic": ..., "kafka_partition": ...}, "offset": {"kafka_offset": ...}}`. An offset of
        None resets its partition; partitions that are not named keep theirs. (templated)
    """

    template_fields: Sequence[str] = (*ConnectorOperationOperator.template_fields, "offsets")
    template_fields_renderers: ClassVar[dict[str, str]] = {"connector": "json", "offsets": "json"}

    def __init__(self, *, offsets: Sequence[Mapping[str, Any]] | Mapping[str, Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.offsets = offsets

    def _operate(self) -> dict[str, Any]:
        config, worker = self._configurations().resolved()
        message = operations.alter_offsets(config, worker, self.offsets)
        return {"connector": operations.connector_name(config), "message": message}


class ResetOffsetsOperator(ConnectorOperationOperator):
    """Forgets the committed offsets of a connector, and an unfinished plan: its next run starts from the beginning.

    The connector must be stopped. Parameters: see `ConnectorOperationOperator`.
    Returns `{"connector": ..., "message": ...}`.
    """

    def _operate(self) -> dict[str, Any]:
        config, worker = self._configurations().resolved()
        message = operations.reset_offsets(config, worker)
        return {"connector": operations.connector_name(config), "message": message}


class ValidateConnectorOperator(ConnectorOperationOperator):
    """Checks the configuration of a connector; all its errors are shown at once. Nothing is connected to.

    Parameters: see `ConnectorOperationOperator`.
    Returns `{"connector": ..., "connector_class": ..., "kind": ..., "warnings": [...]}`.
    """

    def _operate(self) -> dict[str, Any]:
        found = self._configurations()
        return operations.validated(found.config, found.worker, found.variables)


class ReplayDeadLettersOperator(KafkaSinkOperator):
    """Puts a sink's dead letters through it once more, after what was wrong is mended.

    The records of `errors.deadletterqueue.topic.name` are read as they were before they failed. A consumer group of
    its own, `connect-<name>-dead-letters`, remembers what was replayed; the connector's offsets do not move, and its
    target state does not matter. Parameters and result are those of `KafkaSinkOperator`.
    """

    replay_dead_letters = True
