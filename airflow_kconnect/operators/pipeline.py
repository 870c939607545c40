"""Source, wait and sink: the three tasks of a pipeline through Kafka as one task group."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import TaskGroup

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.errors import connector_error
from airflow_kconnect.operators.base import ConnectorOperator
from airflow_kconnect.operators.intervals import run_mode
from airflow_kconnect.operators.kafka_connect import KafkaSinkOperator, KafkaSourceOperator
from airflow_kconnect.sensors.positions import ConnectorLagSensor

if TYPE_CHECKING:
    from airflow.sdk import Context

Connector = Mapping[str, Any] | str | Path | ConnectorOperator

# A committed transaction becomes visible in its topics a little later.
_TIMEOUT = timedelta(seconds=30)
_POKE_INTERVAL = timedelta(seconds=5)


class NewRecordsSensor(ConnectorLagSensor):
    """The sensor of `connector_pipeline`: a `ConnectorLagSensor` that lets replays pass.

    A replay moves an interval again, wherever the live offsets are. Parameters: see `ConnectorLagSensor`.
    """

    def execute(self, context: Context) -> Any:
        """See `ConnectorSensor.execute`; None in a replay."""
        try:
            if run_mode(context).replay is not None:
                self.log.info("The run replays an interval: the lag does not matter")
                return None
        except ConfigError as error:
            raise connector_error(error.exit_code, str(error)) from None
        return super().execute(context)


def connector_pipeline(
    group_id: str,
    *,
    source: Connector,
    sink: Connector,
    worker_config: Mapping[str, Any] | None = None,
    kafka_conn_id: str | None = "kafka_default",
    sensor: Mapping[str, Any] | None = None,
    **shared: Any,
) -> TaskGroup:
    """Tasks `source` >> `wait` >> `sink` in a task group; call it inside a DAG.

    .. code-block:: python

        with DAG("orders", schedule=CronDataIntervalTimetable("0 * * * *", timezone="UTC")):
            connector_pipeline("orders", source=SOURCE, sink="orders_sink.json", driver_memory="2g")

    `wait` is a `NewRecordsSensor`: it lets the sink run as soon as there is one record to read. If there is none for 30
    seconds, it is skipped, and the sink with it: no Spark job is started for nothing.

    :param source: a connector as for `KafkaSourceOperator`; or such an operator, which is moved into the group and
        keeps its task id and parameters.
    :param sink: the same for sinks.
    :param worker_config: of the tasks created here; the sensor has that of the sink.
    :param kafka_conn_id: the same.
    :param sensor: other parameters of the sensor, e.g. `{"min_records": 1000, "deferrable": True}`.
    :param shared: parameters for the operators created here, e.g. `conn_id`, `conf`, `driver_memory`, `retries`.
    :raises ConfigError: a given operator is of the other kind.
    """
    common = {"worker_config": worker_config, "kafka_conn_id": kafka_conn_id}
    with TaskGroup(group_id) as group:
        read = _task(group, KafkaSourceOperator, source, {**common, **shared})
        write = _task(group, KafkaSinkOperator, sink, {**common, **shared})
        wait = NewRecordsSensor(
            **{
                "task_id": "wait",
                "connector": write.connector,
                "worker_config": write.worker_config,
                "kafka_conn_id": write.kafka_conn_id,
                "min_records": 1,
                "timeout": _TIMEOUT,
                "poke_interval": _POKE_INTERVAL,
                "soft_fail": True,
                # A paused source does not keep the sink from records written by others.
                "trigger_rule": "none_failed",
                **(sensor or {}),
            }
        )
        read >> wait >> write
    return group


def _task(
    group: TaskGroup, kind: type[ConnectorOperator], connector: Connector, parameters: Mapping[str, Any]
) -> ConnectorOperator:
    if not isinstance(connector, ConnectorOperator):
        return kind(task_id=kind.kind, connector=connector, **parameters)
    if not isinstance(connector, kind):
        text = f"task {connector.task_id} is a {type(connector).__name__}; expected a {kind.__name__}"
        raise ConfigError({kind.kind: [text]})
    group.add(connector)
    return connector
