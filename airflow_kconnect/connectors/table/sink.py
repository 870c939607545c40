"""SparkTableSink: topics into tables of Iceberg and Delta Lake, exactly once, and of any other format of Spark."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.config import ConfigDef, Importance, Type
from airflow_kconnect.connect.connector.base import SparkNeeds
from airflow_kconnect.connect.connector.planned import PlannedSinkConnector, PlanRecords, SinkPlan
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.table.formats.registry import table_class
from airflow_kconnect.connectors.table.packages import needs_of
from airflow_kconnect.connectors.table.settings import CatalogSettings, Routing, TableSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from airflow_kconnect.connect.frame import RecordFrame
    from airflow_kconnect.connectors.table.formats.base import Table


class SparkTableSinkConnector(PlannedSinkConnector):
    """Catalyst does everything from the decoded record to the file."""

    summary = "Writes topics into tables of Iceberg, Delta Lake and other formats of Spark."
    needs = frozenset[str]()

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(props)
        self._settings = self.settings(props)
        self._class = table_class(self._settings.format)
        self.exactly_once, self.staged = self._class.exactly_once, self._class.staged
        self._tables: dict[str, Table] = {}
        self._spark: SparkSession | None = None

    @classmethod
    def config(cls) -> ConfigDef:
        return (
            ConfigDef()
            .define("table.format", Type.STRING, importance=Importance.HIGH, documentation="`iceberg`, `delta`, ...")
            .define("table.name.format", Type.STRING, "${topic}", Importance.HIGH, "Name of the table.")
        )  # fmt: skip

    @classmethod
    def settings(cls, props: Mapping[str, str]) -> TableSettings:
        """What the keys say."""
        values = cls.config().parse(props)
        return TableSettings(
            connector=props["name"],
            format=values["table.format"],
            catalog=CatalogSettings("lake"),
            routing=Routing(values["table.name.format"]),
        )

    @classmethod
    def spark_needs(cls, props: Mapping[str, str], spark_version: str) -> SparkNeeds:
        return needs_of(props["table.format"].strip().lower(), spark_version)

    @classmethod
    def alter_offsets(cls, props: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """There are no offsets besides the group's."""
        return True

    def open(self, spark: SparkSession) -> None:
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
            name = self._settings.routing.name_format.replace("${topic}", topic)
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
        facts: dict[str, Any] = {}
        for table in self._tables.values():
            for name, fact in table.publish(plan).items():
                facts[name] = facts.get(name, 0) + fact
        return facts

    def discard(self, plan: SinkPlan) -> None:
        for table in self._tables.values():
            table.discard(plan)

    def _table(self, name: str) -> Table:
        if name not in self._tables:
            assert self._spark is not None
            self._tables[name] = self._class(self._spark, name, self._settings)
        return self._tables[name]
