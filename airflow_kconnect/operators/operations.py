"""Operators for everything but running a connector: target state, offsets, validation, dead letters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.hooks.kconnect import KafkaConnectHook
from airflow_kconnect.hooks.rendering import RendersConnector
from airflow_kconnect.operators.kafka_connect import KafkaSinkOperator
from airflow_kconnect.submit.registered import Connector

if TYPE_CHECKING:
    from airflow.sdk import Context


class HookedOperator(RendersConnector):
    """An operator that asks or changes a connector through the hook; it needs neither Spark nor a Connect cluster.

    :param connector: the connector, as for `KafkaSourceOperator`: Connect's JSON, the path of a file, absolute or
        relative to the DAG file, or the name of a registered connector. (templated)
    :param worker_config: worker keys; they override those of the Kafka connection. Not templated.
    :param kafka_conn_id: Airflow connection of type `kconnect` or `kafka`; None if `worker_config` is enough.
        (templated)
    """

    template_fields: Sequence[str] = ("connector", "kafka_conn_id")
    template_fields_renderers: ClassVar[dict[str, str]] = {"connector": "json"}
    ui_color = "#f3e8fd"

    def __init__(
        self,
        *,
        connector: Connector,
        worker_config: Mapping[str, Any] | None = None,
        kafka_conn_id: str | None = "kafka_default",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.connector = connector
        self.worker_config = worker_config
        self.kafka_conn_id = kafka_conn_id

    @cached_property
    def hook(self) -> KafkaConnectHook:
        """The hook that does the work, from the rendered parameters."""
        return KafkaConnectHook(self.kafka_conn_id, self.worker_config, folder=self._dag_folder())


class ConnectorOperationOperator(HookedOperator):
    """What these operators share: they do one thing, and return a small dict. Parameters: see `HookedOperator`."""

    def execute(self, context: Context) -> dict[str, Any]:
        """Perform the operation; returns what was done.

        :raises ConnectorConfigError: configuration, request or data are wrong; a retry would not help.
        :raises ConnectorRetriableError: an external system is unavailable, or still in use.
        """
        done = self._operate()
        self.log.info("%s", done)
        return done

    @abstractmethod
    def _operate(self) -> dict[str, Any]:
        """Errors as in `execute`."""


class TargetStateOperator(ConnectorOperationOperator):
    """What operators share that set a target state. Parameters: see also `HookedOperator`.

    :param connector: may be just the name.
    :param force: set the state even if nothing is known of a connector of this name, as before its first run. Without
        it an unknown name is an error. A configuration or a file needs no `force`.
    """

    def __init__(self, *, force: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.force = force


class PauseConnectorOperator(TargetStateOperator):
    """Pauses a connector: its next runs are skipped. A run in progress is not ended. Replays run as before.

    Parameters: see `TargetStateOperator`.
    Returns `{"connector": ..., "state": "PAUSED"}`.
    """

    def _operate(self) -> dict[str, Any]:
        return self.hook.pause(self.connector, force=self.force)


class ResumeConnectorOperator(TargetStateOperator):
    """Resumes a connector that was paused or stopped: its next run resumes from the committed offsets.

    Parameters: see `TargetStateOperator`.
    Returns `{"connector": ..., "state": "STARTED"}`.
    """

    def _operate(self) -> dict[str, Any]:
        return self.hook.resume(self.connector, force=self.force)


class StopConnectorOperator(TargetStateOperator):
    """Stops a connector: as if paused, but its offsets may be altered and reset.

    Parameters: see `TargetStateOperator`.
    Returns `{"connector": ..., "state": "STOPPED"}`.
    """

    def _operate(self) -> dict[str, Any]:
        return self.hook.stop(self.connector, force=self.force)


class AlterOffsetsOperator(ConnectorOperationOperator):
    """Replaces committed offsets (KIP-875). The connector must be stopped.

    .. code-block:: python

        AlterOffsetsOperator(
            task_id="read_again_from_line_2",
            connector="orders-source.json",
            offsets=[{"partition": {"filename": "/data/orders.csv"}, "offset": {"position": 14}}],
        )

    Parameters: see `HookedOperator`. Returns `{"connector": ..., "message": ...}`.

    :param offsets: Connect's request, `{"offsets": [...]}` or the list in it. For a sink:
        `{"partition": {"kafka_topic": ..., "kafka_partition": ...}, "offset": {"kafka_offset": ...}}`. An offset of
        None resets its partition; partitions that are not named keep their offsets. (templated)
    """

    template_fields: Sequence[str] = (*ConnectorOperationOperator.template_fields, "offsets")
    template_fields_renderers: ClassVar[dict[str, str]] = {"connector": "json", "offsets": "json"}

    def __init__(self, *, offsets: Sequence[Mapping[str, Any]] | Mapping[str, Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.offsets = offsets

    def _operate(self) -> dict[str, Any]:
        return self.hook.alter_offsets(self.connector, self.offsets)


class ResetOffsetsOperator(ConnectorOperationOperator):
    """Deletes the committed offsets of a connector and any unfinished plan: its next run starts from the beginning.

    The connector must be stopped. Parameters: see `HookedOperator`.
    Returns `{"connector": ..., "message": ...}`.
    """

    def _operate(self) -> dict[str, Any]:
        return self.hook.reset_offsets(self.connector)


class ValidateConnectorOperator(ConnectorOperationOperator):
    """Checks the configuration of a connector; all its errors are shown at once. Makes no connections.

    Parameters: see `HookedOperator`.
    Returns `{"connector": ..., "connector_class": ..., "kind": ..., "warnings": [...]}`.
    """

    def _operate(self) -> dict[str, Any]:
        return self.hook.validate(self.connector)


class ReplayDeadLettersOperator(KafkaSinkOperator):
    """Delivers a sink's dead letters again, after the cause has been fixed.

    The records of `errors.deadletterqueue.topic.name` are read as they were before they failed. A separate consumer
    group, `connect-<name>-dead-letters-<8 digits>`, tracks what was replayed; the connector's offsets do not move, and
    its target state does not matter. Parameters and result are those of `KafkaSinkOperator`.
    """

    replay_dead_letters = True
