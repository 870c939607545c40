"""An Iceberg table: write, audit, publish. See docs/decisions/0059."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.connector.planned import SinkPlan
from airflow_kconnect.connect.errors import DataError, FencedError
from airflow_kconnect.connect.upkeep import TableUpkeep
from airflow_kconnect.connectors.table.evolution import Change
from airflow_kconnect.connectors.table.formats.base import Table, TableDefinition
from airflow_kconnect.connectors.table.formats.iceberg.upkeep import IcebergUpkeep

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql import types as T

_WAP_ID = "spark.wap.id"
_PROPERTY = "spark.sql.iceberg.snapshot-property."
_ATTEMPT, _RANGES = "kconnect.attempt", "kconnect.ranges"
_ATTEMPTS = 10


@dataclass
class _Staged:
    """What a plan has staged.

    :param again: stages it again, on the table's present state.
    """

    snapshot: int
    again: Callable[[], int]


class IcebergTable(Table):
    """No one sees a snapshot that was staged, and the table publishes one of each plan."""

    exactly_once = True
    staged = True
    _plans: dict[str, _Staged]

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._plans = {}

    def columns(self) -> T.StructType | None:
        return self.spark.table(self.name).schema if self.spark.catalog.tableExists(self.name) else None

    def create(self, definition: TableDefinition) -> None:
        writer = self.spark.createDataFrame([], definition.columns).writeTo(self.name).using("iceberg")
        for key, value in definition.properties.items():
            writer = writer.tableProperty(key, value)
        writer.create()

    def change(self, changes: Sequence[Change]) -> None:
        raise NotImplementedError

    def has(self, plan: SinkPlan) -> bool:
        number, is_whole = self._newest(plan.application)
        if number is None and not is_whole:
            raise DataError(
                f"table {self.name}: whether it has plan {plan.identity} cannot be told any more, since its older"
                " snapshots have expired. Compare the table with the topics, then alter the connector's offsets"
                " (`kconnect offsets alter`) to where it is to resume"
            )
        return number is not None and number >= plan.number

    def last_plan(self, application: str) -> int | None:
        return self._newest(application)[0]

    def append(self, plan: SinkPlan, rows: DataFrame) -> None:
        self._stage(plan, lambda: rows.writeTo(self.name).append())

    def merge(self, plan: SinkPlan, rows: DataFrame, keys: Sequence[str], deleted: str | None) -> None:
        raise NotImplementedError

    def publish(self, plan: SinkPlan) -> dict[str, Any]:
        from py4j.protocol import Py4JJavaError

        staged = self._plans.pop(plan.identity, None)
        if staged is None:
            return {}
        for _ in range(_ATTEMPTS):
            try:
                self._loaded().manageSnapshots().cherrypick(staged.snapshot).commit()
                return {"snapshots": 1}
            except Py4JJavaError as error:
                if self.has(plan):
                    return {}
                if not str(error.java_exception.getClass().getName()).startswith("org.apache.iceberg.exceptions."):
                    raise
            staged.snapshot = staged.again()
        raise FencedError(f"table {self.name}: other writers were faster {_ATTEMPTS} times")

    def maintain(self, order: TableUpkeep) -> dict[str, Any]:
        return IcebergUpkeep(self.spark, self.name, order).run()

    def discard(self, plan: SinkPlan) -> None:
        self._plans.pop(plan.identity, None)

    def _stage(self, plan: SinkPlan, write: Callable[[], None]) -> None:
        self._allow_staging()

        def stage() -> int:
            attempt = uuid.uuid4().hex
            with self._session_settings(plan, attempt):
                write()
            return self._snapshot_of(attempt)

        self._plans[plan.identity] = _Staged(stage(), stage)

    def _allow_staging(self) -> None:
        if self._loaded().properties().get("write.wap.enabled") != "true":
            self._loaded().updateProperties().set("write.wap.enabled", "true").commit()

    @contextmanager
    def _session_settings(self, plan: SinkPlan, attempt: str) -> Iterator[None]:
        """What the session's next write is: a connector has a session of its own."""
        ranges = [[r.topic, r.partition, r.start, r.end] for r in plan.ranges]
        conf = {_WAP_ID: plan.identity, _PROPERTY + _ATTEMPT: attempt, _PROPERTY + _RANGES: json.dumps(ranges)}
        for key, value in conf.items():
            self.spark.conf.set(key, value)
        try:
            yield
        finally:
            for key in conf:
                self.spark.conf.unset(key)

    def _snapshot_of(self, attempt: str) -> int:
        for snapshot in reversed(list(self._loaded().snapshots())):
            if snapshot.summary().get(_ATTEMPT) == attempt:
                return int(snapshot.snapshotId())
        raise DataError(f"table {self.name}: what was staged is not there: its snapshots have been expired meanwhile")

    def _newest(self, application: str) -> tuple[int | None, bool]:
        """Number of the last plan of an application, and whether all snapshots before it are still known."""
        table = self._loaded()
        snapshot = table.currentSnapshot()
        while snapshot is not None:
            summary = snapshot.summary()
            mark = str(summary.get("published-wap-id") or summary.get("wap.id") or "")
            owner, _, number = mark.rpartition(":")
            if owner == application:
                return int(number), True
            parent = snapshot.parentId()
            if parent is None:
                return None, True
            snapshot = table.snapshot(parent)
            if snapshot is None:
                return None, False
        return None, True

    def _loaded(self) -> Any:
        """The table as it is now, as Iceberg's Java knows it."""
        jvm = self.spark._jvm
        assert jvm is not None
        table = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(self.spark._jsparkSession, self.name)
        table.refresh()
        return table
