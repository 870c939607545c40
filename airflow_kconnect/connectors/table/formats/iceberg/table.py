"""An Iceberg table: write, audit, publish. See docs/decisions/0059."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.connector.planned import SinkPlan
from airflow_kconnect.connect.connector.row_counts import RowCount
from airflow_kconnect.connect.connector.upkeep import TableUpkeep
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.table.columns.evolution import Change
from airflow_kconnect.connectors.table.formats.base import Table, TableDefinition, applications, counted
from airflow_kconnect.connectors.table.formats.iceberg.access import TableAccess
from airflow_kconnect.connectors.table.formats.iceberg.definition import (
    COPY_ON_WRITE,
    FANOUT,
    FANOUT_OPTION,
    MERGE_ON_READ,
    MODE,
    WAP,
    identified,
    partitions,
    properties_of,
)
from airflow_kconnect.connectors.table.formats.iceberg.evolution import change_columns
from airflow_kconnect.connectors.table.formats.iceberg.merging import merge_statement, optional_keys
from airflow_kconnect.connectors.table.formats.iceberg.patience import Patience
from airflow_kconnect.connectors.table.formats.iceberg.publication import Check, Publication, Write
from airflow_kconnect.connectors.table.formats.iceberg.state import Snapshot, TableState, plan_property
from airflow_kconnect.connectors.table.formats.iceberg.upkeep import IcebergUpkeep

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql import types as T

_NOT_ALL = (
    "Nothing of the plan is visible, and no offsets were committed. An extension of Spark (`spark.sql.extensions`) or"
    " the catalog takes rows away, or adds some: remove it, then run again"
)


class IcebergTable(Table):
    """No one sees a snapshot that was staged, and the table publishes one of each plan."""

    exactly_once = True
    staged = True
    patience = Patience()
    """With other writers; a test does not wait."""
    _publications: dict[str, Publication]

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._access = TableAccess(self.spark, self.name)
        self._publications = {}

    def columns(self) -> T.StructType | None:
        table = self._access.table()
        return None if table is None else self._access.columns(table)

    def create(self, definition: TableDefinition) -> None:
        columns = identified(definition.columns, definition.keys)
        self._access.create(
            columns,
            [key for key in definition.keys if not columns[key].nullable],
            partitions(definition.partition_by),
            definition.location,
            properties_of(definition),
        )

    def change(self, changes: Sequence[Change]) -> None:
        change_columns(self._access, changes, self.patience)

    def has(self, plan: SinkPlan) -> bool:
        last = self.last_plan(plan.application)
        return last is not None and last >= plan.number

    def last_plan(self, application: str) -> int | None:
        view = self._access.look()
        return None if view is None else view.state.last_plan(application)

    def lost_starts(self, application: str, number: int) -> dict[TopicPartition, int] | None:
        view = self._access.look()
        return None if view is None else view.state.lost_starts(application, number)

    def last_plans(self, connector: str) -> dict[str, int]:
        view = self._access.look()
        if view is None:
            return {}
        ours = applications(connector)
        found = {name: view.state.last_plan(name) for name in view.state.applications() if ours.fullmatch(name)}
        return {name: number for name, number in found.items() if number is not None}

    def is_empty(self) -> bool:
        return self._access.read().state.is_empty

    def append(self, plan: SinkPlan, rows: DataFrame, count: RowCount | None = None) -> None:
        def write(state: TableState) -> bool:
            self._append(rows, state)
            return False

        self._prepare({WAP: "true"})
        self._stage(plan, write, self._checking(plan, count))

    def merge(self, plan: SinkPlan, rows: DataFrame, keys: Sequence[str], deleted: str | None) -> None:
        state = self._prepare({WAP: "true", MODE: MERGE_ON_READ, FANOUT: "false"})
        rows, count = counted(rows, deleted)
        others = set(rows.columns) - {*keys, deleted}  # without any, rows that are there are left as they are
        if not state.is_empty and state.properties.get(MODE, COPY_ON_WRITE) == COPY_ON_WRITE:
            # Spark would read the records twice: first to find the files that it has to write again.
            rows = rows.localCheckpoint(eager=True)

        def write(state: TableState) -> bool:
            if state.is_empty:
                self._append(rows if deleted is None else rows.where(f"`{deleted}` IS NOT TRUE").drop(deleted), state)
            else:
                self._merge(rows, keys, deleted)
            return True

        self._stage(plan, write, self._checking(plan, count if others else None, at_least=True))

    def publish(self, plan: SinkPlan) -> dict[str, Any]:
        publication = self._publications.pop(plan.identity, None)
        facts = {} if publication is None else publication.publish()
        if "snapshot" in facts and "partitions" not in facts:
            partitions = self._access.partitions(facts["snapshot"])
            facts |= {"partitions": partitions} if partitions else {}
        return facts

    def forget(self, application: str) -> None:
        view, key = self._access.look(), plan_property(application)
        if view is not None and key in view.state.properties:
            self._access.remove_property(key)

    def place(self) -> dict[str, Any]:
        table = self._access.table()
        if table is None:
            return {}
        columns = [[f.name, f.dataType.simpleString()] for f in self._access.columns(table).fields]
        return {"location": str(table.location()), "columns": columns}

    def maintain(self, order: TableUpkeep) -> dict[str, Any]:
        return IcebergUpkeep(self.spark, self.name, order).run()

    def discard(self, plan: SinkPlan) -> None:
        self._publications.pop(plan.identity, None)

    def _checking(self, plan: SinkPlan, count: RowCount | None, *, at_least: bool = False) -> Check:
        """:param at_least: the table may have several rows with the same keys."""

        def check(staged: Snapshot) -> None:
            if count is not None and (given := count.unlike(staged.rows, at_least=at_least)) is not None:
                raise self.miscounted(plan, staged.rows, given, _NOT_ALL)

        return check

    def _stage(self, plan: SinkPlan, write: Write, check: Check) -> None:
        publication = Publication(self.spark, self._access, plan, write, check, self.patience)
        publication.stage()
        self._publications[plan.identity] = publication

    def _append(self, rows: DataFrame, state: TableState) -> None:
        writer = rows.writeTo(self.name)
        sorts = {} if FANOUT in state.properties else {FANOUT_OPTION: "false"}
        for key, value in {**sorts, **self.settings.write_options}.items():
            writer = writer.option(key, value)
        writer.append()

    def _merge(self, rows: DataFrame, keys: Sequence[str], deleted: str | None) -> None:
        columns = self.columns()
        assert columns is not None
        if missing := [key for key in keys if key not in columns.names]:
            raise ConfigError(
                {"pk.fields": [f"table {self.name} has no column {missing[0]}: name columns of the table"]}
            )
        view = f"kconnect_{uuid.uuid4().hex}"
        rows.createOrReplaceTempView(view)
        try:
            given = [name for name in rows.columns if name != deleted]
            statement = merge_statement(self.name, view, given, keys, deleted, optional_keys(columns, keys))
            self.spark.sql(statement)
        finally:
            self.spark.catalog.dropTempView(view)

    def _prepare(self, properties: dict[str, str]) -> TableState:
        """Set properties that the table does not have yet; it has to be asked to stage, whatever was said before.

        Returns its state afterwards.
        """
        state = self._access.read().state
        known = {key: value for key, value in state.properties.items() if key != WAP or value == properties[WAP]}
        useless = {MODE: state.format_version == 1, FANOUT: not state.is_partitioned}
        missing = {key: value for key, value in properties.items() if key not in known and not useless.get(key)}
        if not missing:
            return state
        self._access.set_properties(missing)
        return self._access.read().state
