"""SparkTableSink: topics into tables of Iceberg and Delta Lake, exactly once, and of any other format of Spark."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.base import SparkNeeds
from airflow_kconnect.connect.connector.datasets import Dataset
from airflow_kconnect.connect.connector.planned import KnownPlans, PlannedSinkConnector, PlanRecords, SinkPlan
from airflow_kconnect.connect.connector.upkeep import TableUpkeep
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.connectors.table.catalogs.catalogs import use_catalog
from airflow_kconnect.connectors.table.catalogs.keys import check_connections, with_catalog
from airflow_kconnect.connectors.table.config import CATALOG, PREFIXES, below, settings_of, table_keys
from airflow_kconnect.connectors.table.datasets import table_datasets
from airflow_kconnect.connectors.table.formats.registry import table_class
from airflow_kconnect.connectors.table.kept_plans import KeptPlans
from airflow_kconnect.connectors.table.packages import JARS, needs_of
from airflow_kconnect.connectors.table.replaying import replay_problem, replay_warning, replayed
from airflow_kconnect.connectors.table.report import TablesReport
from airflow_kconnect.connectors.table.routing.routing import needed_parts
from airflow_kconnect.connectors.table.routing.tables import Tables, is_of_dead_letters
from airflow_kconnect.connectors.table.rules import forbidden_formats, format_of, rule_errors, rule_warnings
from airflow_kconnect.connectors.table.settings import RECORD_KEY, UPSERT, TableSettings
from airflow_kconnect.runs.warnings import RunWarning
from airflow_kconnect.worker_config.keys import TABLE_FORMATS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from airflow_kconnect.connect.frame import RecordFrame
    from airflow_kconnect.connectors.table.writing import PlanWriter
    from airflow_kconnect.worker_config.keys import WorkerConfig


class SparkTableSinkConnector(PlannedSinkConnector):
    """Catalyst does everything from the decoded record to the file."""

    summary = "Writes topics into tables of Iceberg and Delta Lake, exactly once, and of other formats of Spark."
    key_prefixes = PREFIXES
    first_keys: ClassVar[tuple[str, ...]] = (
        *("table.format", "table.catalog", "table.name.format", "auto.create", "auto.evolve"),
        *("insert.mode", "pk.mode", "pk.fields", "delete.enabled"),
    )

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(props)
        self._settings = self.settings(props)
        self._class = table_class(self._settings.format)
        self.exactly_once, self.staged = self._class.exactly_once, self._class.staged
        self._tables = Tables(self._class, self._settings)
        self._kept = KeptPlans(self._settings.connector)
        self._report = TablesReport()
        self._writer: PlanWriter | None = None
        self.needs = needed_parts(self._settings)
        self.unwraps_change_events = self._settings.mode == UPSERT
        self.keeps_deleted_rows = self._settings.deletes and self._settings.pk_mode != RECORD_KEY
        self._replay_warning: RunWarning | None = None

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
    def forbidden(cls, props: Mapping[str, str], worker: WorkerConfig) -> dict[str, list[str]]:
        return forbidden_formats(props, worker.get(TABLE_FORMATS))

    @classmethod
    def warnings(cls, props: Mapping[str, str]) -> list[str]:
        return rule_warnings(props)

    @classmethod
    def spark_needs(cls, props: Mapping[str, str], spark_version: str) -> SparkNeeds:
        needs = needs_of(format_of(props), spark_version, jars=props.get(JARS))
        return with_catalog(needs, below(CATALOG, props), props)

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        try:
            return replay_problem(cls.settings(props))
        except ConfigError:  # of variables: the job asks again
            return None

    @classmethod
    def datasets(cls, props: Mapping[str, str], report: Mapping[str, Any] | None = None) -> list[Dataset]:
        try:
            return table_datasets(cls.settings(props).catalog, report)
        except ConfigError:  # of variables that are resolved in the job
            return []

    @classmethod
    def alter_offsets(cls, props: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """There are no offsets besides the group's."""
        return True

    def replay(self, replay: Replay) -> None:
        self._tables = Tables(replayed(self._class), self._settings)
        self._replay_warning = replay_warning(self._settings)

    def check(self) -> None:
        check_connections(self.props)

    def open(self, spark: SparkSession) -> None:
        if self._settings.catalog is not None:
            use_catalog(spark, self._settings.catalog)
        self._tables.spark = spark

    def is_published(self, plan: SinkPlan, table: str) -> bool:
        return self._tables[table].has(plan)

    def check_kept(self, known: KnownPlans) -> None:
        if not self.exactly_once:
            return  # these tables keep no plans
        # A plan without bad records has nothing for the tables of these, even if it has announced them.
        names = [name for name in sorted(known.taken) if not is_of_dead_letters(name)]
        self._kept.check_taken(known, [self._tables[name] for name in names])

    def judged(self, frame: RecordFrame) -> DataFrame:
        return self._plan_writer().judged(frame)

    def write(self, records: PlanRecords) -> Collection[str]:
        return self._plan_writer().write(records)

    def _plan_writer(self) -> PlanWriter:
        if self._writer is None:
            from airflow_kconnect.connectors.table.writing import PlanWriter

            self._writer = PlanWriter(self._settings, self._tables, self._kept, self.props)
        return self._writer

    def publish(self, plan: SinkPlan) -> dict[str, Any]:
        published = {table: facts for table in self._tables if (facts := table.publish(plan))}
        return self._report.add({table.name: facts | table.place() for table, facts in published.items()})

    def run_warnings(self) -> list[str]:
        of_writer = self._writer.warnings() if self._writer else ()
        return [*filter(None, [self._replay_warning]), *self._report.warnings(), *of_writer]

    def forget(self, application: str, table: str) -> None:
        self._tables[table].forget(application)

    def maintain(self, table: str, order: TableUpkeep) -> dict[str, Any]:
        found = self._tables[table]
        if found.columns() is None:
            raise ConfigError({"tables": [f"there is no table {table} of the format {self._settings.format}"]})
        return found.maintain(order)

    def discard(self, plan: SinkPlan) -> None:
        for table in self._tables:
            table.discard(plan)
