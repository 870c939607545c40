"""IcebergSink: configurations of Apache Iceberg's sink for Kafka Connect, as a table sink of Spark."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.base import SparkNeeds
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.connectors.table.catalogs.keys import with_catalog
from airflow_kconnect.connectors.table.formats.registry import ICEBERG
from airflow_kconnect.connectors.table.iceberg.control_topic import files_left
from airflow_kconnect.connectors.table.iceberg.keys import (
    CATALOG,
    CATALOG_KEYS,
    CREATE,
    PREFIXES,
    TABLES,
    below,
    iceberg_config,
    table_settings,
)
from airflow_kconnect.connectors.table.iceberg.rules import iceberg_errors, iceberg_warnings
from airflow_kconnect.connectors.table.packages import JARS, needs_of
from airflow_kconnect.connectors.table.settings import TableSettings
from airflow_kconnect.connectors.table.sink import SparkTableSinkConnector
from airflow_kconnect.hosting.keys import HOSTED

if TYPE_CHECKING:
    from airflow_kconnect.kafka.admin import KafkaAdmin
    from airflow_kconnect.kafka.clients import ClientConfigs

log = logging.getLogger(__name__)


class IcebergSinkConnector(SparkTableSinkConnector):
    """``org.apache.iceberg.connect.IcebergSinkConnector``, without its coordinator and control topic."""

    summary = "Writes topics into Iceberg tables, exactly once, with the keys of Iceberg's own sink for Kafka Connect."
    key_prefixes = PREFIXES
    first_keys: ClassVar[tuple[str, ...]] = (TABLES, CATALOG, CREATE)

    @classmethod
    def config(cls) -> ConfigDef:
        return iceberg_config()

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        return iceberg_errors(props, cls.config().parse(props))

    @classmethod
    def warnings(cls, props: Mapping[str, str]) -> list[str]:
        return iceberg_warnings(props, cls.config().parse(props))

    @classmethod
    def spark_needs(cls, props: Mapping[str, str], spark_version: str) -> SparkNeeds:
        return with_catalog(needs_of(ICEBERG, spark_version, jars=props.get(JARS)), below(props, CATALOG_KEYS), props)

    def check_takeover(self, admin: KafkaAdmin, clients: ClientConfigs) -> None:
        """Its Java class may have run under this name: hosted, or in a Connect cluster."""
        try:
            problem = files_left(admin, clients, self.props)
        except ConfigError as error:
            log.warning("Whether the Java class of %s has left files is not known: %s", self.props["name"], error)
            return
        if problem is not None:
            raise DataError(f"connector {self.props['name']}: {problem}, in its Connect cluster or by `{HOSTED}=true`")

    @classmethod
    def settings(cls, props: Mapping[str, str]) -> TableSettings:
        return table_settings(props, cls.config().parse(props))
