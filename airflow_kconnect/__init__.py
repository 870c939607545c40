"""Kafka Connect without a Connect cluster: connectors run as Airflow tasks on Spark.

Importing this package imports neither Airflow nor Spark; the operators are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow_kconnect.errors import (
        ConnectorConfigError,
        ConnectorDataError,
        ConnectorFencedError,
        ConnectorInternalError,
        ConnectorRetriableError,
        ConnectorRunError,
    )
    from airflow_kconnect.hooks.kconnect import KafkaConnectHook
    from airflow_kconnect.operators.approvals import (
        ApprovalFacts,
        ApproveAfterFailureOperator,
        ApproveDeadLetterReplayOperator,
        ApproveOffsetChangeOperator,
        ConnectorApprovalOperator,
    )
    from airflow_kconnect.operators.deadlines import FreshBy
    from airflow_kconnect.operators.folder import connectors_from_folder
    from airflow_kconnect.operators.group import KafkaConnectorGroupOperator
    from airflow_kconnect.operators.intervals import run_params
    from airflow_kconnect.operators.kafka_connect import KafkaSinkOperator, KafkaSourceOperator
    from airflow_kconnect.operators.lake_maintenance import LakeMaintenanceOperator
    from airflow_kconnect.operators.operations import (
        AlterOffsetsOperator,
        PauseConnectorOperator,
        ReplayDeadLettersOperator,
        ResetOffsetsOperator,
        ResumeConnectorOperator,
        StopConnectorOperator,
        ValidateConnectorOperator,
    )
    from airflow_kconnect.operators.pipeline import connector_pipeline
    from airflow_kconnect.operators.registered.dags import registered_connector_dags
    from airflow_kconnect.operators.reports.assets import connector_alias, topic_asset
    from airflow_kconnect.operators.retries import connector_retry_policy
    from airflow_kconnect.runtime.preview import preview
    from airflow_kconnect.sensors.files import NewFilesSensor
    from airflow_kconnect.sensors.positions import ConnectorLagSensor, ConnectorOffsetSensor
    from airflow_kconnect.sensors.slots import ReplicationSlotSensor
    from airflow_kconnect.sensors.states import ConnectorStateSensor
    from airflow_kconnect.submit.registered import RegisteredConnector
    from airflow_kconnect.triggers.lag import ConnectorLagTrigger

    __version__: str

__all__ = [
    "AlterOffsetsOperator",
    "ApprovalFacts",
    "ApproveAfterFailureOperator",
    "ApproveDeadLetterReplayOperator",
    "ApproveOffsetChangeOperator",
    "ConnectorApprovalOperator",
    "ConnectorConfigError",
    "ConnectorDataError",
    "ConnectorFencedError",
    "ConnectorInternalError",
    "ConnectorLagSensor",
    "ConnectorLagTrigger",
    "ConnectorOffsetSensor",
    "ConnectorRetriableError",
    "ConnectorRunError",
    "ConnectorStateSensor",
    "FreshBy",
    "KafkaConnectHook",
    "KafkaConnectorGroupOperator",
    "KafkaSinkOperator",
    "KafkaSourceOperator",
    "LakeMaintenanceOperator",
    "NewFilesSensor",
    "PauseConnectorOperator",
    "RegisteredConnector",
    "ReplayDeadLettersOperator",
    "ReplicationSlotSensor",
    "ResetOffsetsOperator",
    "ResumeConnectorOperator",
    "StopConnectorOperator",
    "ValidateConnectorOperator",
    "__version__",
    "connector_alias",
    "connector_pipeline",
    "connector_retry_policy",
    "connectors_from_folder",
    "preview",
    "registered_connector_dags",
    "run_params",
    "topic_asset",
]

# Where each name is. As text: importing this package, as the command line does, must not import all of it.
_MODULES = {
    "AlterOffsetsOperator": "operators.operations",
    "ApprovalFacts": "operators.approvals",
    "ApproveAfterFailureOperator": "operators.approvals",
    "ApproveDeadLetterReplayOperator": "operators.approvals",
    "ApproveOffsetChangeOperator": "operators.approvals",
    "ConnectorApprovalOperator": "operators.approvals",
    "ConnectorConfigError": "errors",
    "ConnectorDataError": "errors",
    "ConnectorFencedError": "errors",
    "ConnectorInternalError": "errors",
    "ConnectorLagSensor": "sensors.positions",
    "ConnectorLagTrigger": "triggers.lag",
    "ConnectorOffsetSensor": "sensors.positions",
    "ConnectorRetriableError": "errors",
    "ConnectorRunError": "errors",
    "ConnectorStateSensor": "sensors.states",
    "FreshBy": "operators.deadlines",
    "KafkaConnectHook": "hooks.kconnect",
    "KafkaConnectorGroupOperator": "operators.group",
    "KafkaSinkOperator": "operators.kafka_connect",
    "KafkaSourceOperator": "operators.kafka_connect",
    "LakeMaintenanceOperator": "operators.lake_maintenance",
    "NewFilesSensor": "sensors.files",
    "PauseConnectorOperator": "operators.operations",
    "RegisteredConnector": "submit.registered",
    "ReplayDeadLettersOperator": "operators.operations",
    "ReplicationSlotSensor": "sensors.slots",
    "ResetOffsetsOperator": "operators.operations",
    "ResumeConnectorOperator": "operators.operations",
    "StopConnectorOperator": "operators.operations",
    "ValidateConnectorOperator": "operators.operations",
    "connector_alias": "operators.reports.assets",
    "connector_pipeline": "operators.pipeline",
    "connector_retry_policy": "operators.retries",
    "connectors_from_folder": "operators.folder",
    "preview": "runtime.preview",
    "registered_connector_dags": "operators.registered.dags",
    "run_params": "operators.intervals",
    "topic_asset": "operators.reports.assets",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    if name == "__version__":
        return globals().setdefault(name, _version())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("airflow-kconnect")
    except PackageNotFoundError:
        # A folder on the Python path, for example a zip that was sent to Spark executors.
        return "0+unknown"


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
