"""Which services there are, and which one a Spark connection names."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from airflow_kconnect.hooks.services.base import SparkService, read_extras

if TYPE_CHECKING:
    from airflow.sdk import Connection

SERVICES = {
    "databricks": "airflow_kconnect.hooks.services.databricks.Databricks",
    "dataproc": "airflow_kconnect.hooks.services.dataproc.DataprocCluster",
    "dataproc-serverless": "airflow_kconnect.hooks.services.dataproc.DataprocBatches",
    "emr": "airflow_kconnect.hooks.services.emr.Emr",
    "emr-eks": "airflow_kconnect.hooks.services.emr_eks.EmrOnEks",
    "emr-serverless": "airflow_kconnect.hooks.services.emr_serverless.EmrServerless",
    "livy": "airflow_kconnect.hooks.services.livy.Livy",
}
"""Scheme of the connection's host -> class."""


def names_service(host: str | None) -> bool:
    """Whether the host of a Spark connection is the address of a service."""
    return (host or "").partition("://")[0] in SERVICES


def open_service(connection: Connection, conn_id: str) -> SparkService:
    """The service of a Spark connection. Makes no request.

    :raises ConfigError: the connection is wrong, or the service's Airflow provider is not installed.
    """
    scheme, _, address = str(connection.host).partition("://")
    module, _, name = SERVICES[scheme].rpartition(".")
    cls: type[SparkService] = getattr(import_module(module), name)
    service = cls(address.strip("/"), read_extras(cls.extras_class, connection.extra_dejson, conn_id))
    service.check()
    return service
