"""SparkTableSink: topics into tables of Iceberg and Delta Lake, exactly once, and of any other format of Spark."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.base import SparkNeeds
from airflow_kconnect.connect.connector.datasets import Dataset
from airflow_kconnect.connect.connector.planned import PlannedSinkConnector, PlanRecords, SinkPlan
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.upkeep import TableUpkeep
from airflow_kconnect.connectors.table.catalogs import check_connections, use_catalog, with_catalog
from airflow_kconnect.connectors.table.config import CATALOG, PREFIXES, below, settings_of, table_keys
from airflow_kconnect.connectors.table.datasets import table_datasets
from airflow_kconnect.connectors.table.formats.registry import table_class
from airflow_kconnect.connectors.table.packages import JARS, needs_of
from airflow_kconnect.connectors.table.report import TablesReport
from airflow_kconnect.connectors.table.routing import full_name, table_of
from airflow_kconnect.connectors.table.rules import format_of, rule_errors, rule_warnings
from airflow_kconnect.connectors.table.settings import TableSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from airflow_kconnect.connect.frame import RecordFrame
    from airflow_kconnect.connectors.table.formats.base import Table


class SparkTableSinkConnector(PlannedSinkConnector):
    """Catalyst does everything from the decoded record to the file."""

    summary = "Writes topics into tables of Iceberg and Delta Lake, exactly once, and of other formats of Spark."
    key_prefixes = PREFIXES
    first_keys: ClassVar[tuple[str, ...]] = (
        *("table.format", "table.catalog", "table.name.format", "auto.create", "auto.evolve"),
        *("insert.mode", "pk.mode", "pk.fields", "delete.enabled"),
    )
    needs = frozenset[str]()

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(props)
        self._settings = self.settings(props)
        self._class = table_class(self._settings.format)
        self.exactly_once, self.staged = self._class.exactly_once, self._class.staged
        self._tables: dict[str, Table] = {}
        self._report = TablesReport()
        self._spark: SparkSession | None = None

    @classmethod
    def config(cls) -> ConfigDef:
        return table_keys()

    @classmethod
    def settings(cls, props: Mapping[str, str]) -> TableSettings:
        """What the keys say."""
        return settings_of(str(props.get("name")), cls.config().parse(props), props)

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        return rule_errors(cls.config(), props)

    @classmethod
    def warnings(cls, props: Mapping[str, str]) -> list[str]:
        return rule_warnings(props)

    @classmethod
    def spark_needs(cls, props: Mapping[str, str], spark_version: str) -> SparkNeeds:
        needs = needs_of(format_of(props), spark_version, jars=props.get(JARS))
        return with_catalog(needs, below(CATALOG, props), props)

    @classmethod
    def datasets(cls, props: Mapping[str, str], report: Mapping[str, Any] | None = None) -> list[Dataset]:
        return table_datasets(cls.settings(props).catalog, report)

    @classmethod
    def alter_offsets(cls, props: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """There are no offsets besides the group's."""
        return True

    def check(self) -> None:
        check_connections(self.props)

    def open(self, spark: SparkSession) -> None:
        if self._settings.catalog is not None:
            use_catalog(spark, self._settings.catalog)
        self._spark = spark

    def is_published(self, plan: SinkPlan, table: str) -> bool:
        return self._table(table).has(plan)

    def judged(self, frame: RecordFrame) -> DataFrame:
        return frame.df

    def write(self, records: PlanRecords) -> Collection[str]:
        from airflow_kconnect.connectors.table.formats.base import TableDefinition
        from airflow_kconnect.connectors.table.rows import columns_of, rows_of

        written = []
        for topic in records.plan.topics:
            name = full_name(self._settings.routing, table_of(self._settings.routing, topic))
            table, frame = self._table(name), records.frame([topic])
            columns = table.columns()
            if columns is None:
                columns = columns_of(frame)
                table.create(TableDefinition(columns))
            elif table.has(records.plan):
                continue
            table.append(records.plan, records.good(rows_of(frame, columns)).drop("kafka_offset"))
            written.append(name)
        return written

    def publish(self, plan: SinkPlan) -> dict[str, Any]:
        published = {name: facts for name, table in self._tables.items() if (facts := table.publish(plan))}
        return self._report.add({name: facts | self._tables[name].place() for name, facts in published.items()})

    def run_warnings(self) -> list[str]:
        return self._report.warnings()

    def maintain(self, table: str, order: TableUpkeep) -> dict[str, Any]:
        found = self._table(table)
        if found.columns() is None:
            raise ConfigError({"tables": [f"there is no table {table} of the format {self._settings.format}"]})
        return found.maintain(order)

    def discard(self, plan: SinkPlan) -> None:
        for table in self._tables.values():
            table.discard(plan)

    def _table(self, name: str) -> Table:
        if name not in self._tables:
            assert self._spark is not None
            self._tables[name] = self._class(self._spark, name, self._settings)
        return self._tables[name]
