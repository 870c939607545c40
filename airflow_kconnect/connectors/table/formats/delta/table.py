"""A Delta table: each plan is one transaction of our application, which it takes once. See docs/decisions/0059."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.connector.planned import SinkPlan
from airflow_kconnect.connect.connector.row_counts import RowCount
from airflow_kconnect.connect.connector.upkeep import TableUpkeep
from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError, first_line
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.table.columns.evolution import Change
from airflow_kconnect.connectors.table.formats.base import Table, TableDefinition, applications, counted
from airflow_kconnect.connectors.table.formats.delta import ddl
from airflow_kconnect.connectors.table.formats.delta.commits import commits
from airflow_kconnect.connectors.table.formats.delta.history import Commit, last_plan, lost_starts, marked
from airflow_kconnect.connectors.table.formats.delta.upkeep import DeltaUpkeep
from airflow_kconnect.connectors.table.identifiers import parts_of, quoted
from airflow_kconnect.connectors.table.session_conf import with_conf
from airflow_kconnect.kafka.positions_text import resume_command

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql import types as T

_APPLICATION = "spark.databricks.delta.write.txnAppId"
_VERSION = "spark.databricks.delta.write.txnVersion"
_MARK = "spark.databricks.delta.commitInfo.userMetadata"
_FORGETS = "delta.setTransactionRetentionDuration"
_NOT_EMPTY = "kconnect: the table has got rows"
_ATTEMPTS = 10
_ABSENT = {
    "TABLE_OR_VIEW_NOT_FOUND",
    "SCHEMA_NOT_FOUND",
    "PATH_NOT_FOUND",
    "DELTA_TABLE_NOT_FOUND",
    "DELTA_PATH_DOES_NOT_EXIST",
    "DELTA_MISSING_DELTA_TABLE",
}


class DeltaTable(Table):
    """A plan is visible when it is written; a table that has it skips it without an error."""

    exactly_once = True
    _facts: dict[str, dict[str, Any]]

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._facts = {}

    def columns(self) -> T.StructType | None:
        from pyspark.errors import AnalysisException

        try:
            schema = self.spark.table(self.name).schema
        except AnalysisException as error:
            if (error.getCondition() or "").partition(".")[0] in _ABSENT:
                return None
            raise
        self._log()
        return schema

    def create(self, definition: TableDefinition) -> None:
        from pyspark.errors import AnalysisException

        try:
            if namespace := self._namespace():
                self.spark.sql(f"CREATE SCHEMA IF NOT EXISTS {namespace}")
            self.spark.sql(ddl.creation(self.spark, self.name, definition))
        except (AnalysisException, ValueError) as error:
            raise self._refusal("cannot be created", error) from error

    def change(self, changes: Sequence[Change]) -> None:
        from pyspark.errors import AnalysisException

        try:
            if any(change.kind == "widen" for change in changes):
                self._allow_widening()
            self._allow_types(changes)
            for statement in ddl.changes(self.spark, self.name, changes):
                self.spark.sql(statement)
        except AnalysisException as error:
            raise self._refusal("cannot be changed", error) from error

    def has(self, plan: SinkPlan) -> bool:
        if self.columns() is None:
            return False
        accepted = self._accepted(plan.application)
        if accepted is not None and accepted < plan.number:
            return False
        number, is_certain = self._newest(plan.application, accepted)
        if number is not None and number >= plan.number:
            return True
        if accepted is None and is_certain:
            return False
        raise DataError(
            f"table {self.name}: whether it has plan {plan.identity} cannot be told: it was restored or replaced since"
            f" the plan was written, or has forgotten it (`{_FORGETS}`). Compare the table with the topics"
            f"{self._remedy(plan)}"
        )

    def _remedy(self, plan: SinkPlan) -> str:
        if not plan.ranges:
            return ", then alter the connector's offsets (`kconnect offsets alter`) to where it is to resume"
        after, again = (resume_command(self.settings.connector, at) for at in (plan.end, plan.start))
        return f". If it has the plan, `{after}` resumes after it; otherwise `{again}` has it written again"

    def last_plan(self, application: str) -> int | None:
        if self.columns() is None:
            return None
        return self._newest(application, self._accepted(application))[0]

    def lost_starts(self, application: str, number: int) -> dict[TopicPartition, int] | None:
        return lost_starts(list(self._commits()), application, number)

    def last_plans(self, connector: str) -> dict[str, int]:
        if self.columns() is None:
            return {}
        ours = applications(connector)
        found = self._java.scala.jdk.javaapi.CollectionConverters.asJava(self._snapshot().transactions())
        return {name: int(number) for name, number in dict(found).items() if ours.fullmatch(name)}

    def is_empty(self) -> bool:
        return int(self._snapshot().numOfFiles()) == 0  # no job of Spark's

    def append(self, plan: SinkPlan, rows: DataFrame, count: RowCount | None = None) -> None:
        self._write(plan, lambda: self._append(rows), count)

    def _append(self, rows: DataFrame) -> None:
        writer = rows.writeTo(self.name)
        if not self._snapshot().metadata().partitionColumns().isEmpty():
            writer = writer.option("optimizeWrite", "true")  # else each task has a file in each partition
        for key, value in self.settings.write_options.items():
            writer = writer.option(key, value)
        writer.append()

    def _while_empty(self, rows: DataFrame) -> DataFrame:
        """Rows that can only be written to a table without any: the commit depends on what it has read of the table.

        Without that, two writers could each add a row with the same key: Delta puts appends that read nothing after
        each other.
        """
        return rows.where(f"IF(EXISTS (SELECT 1 FROM {self.name}), raise_error('{_NOT_EMPTY}'), true)")

    def merge(self, plan: SinkPlan, rows: DataFrame, keys: Sequence[str], deleted: str | None) -> None:
        columns = [quoted(name) for name in rows.columns if name != deleted]
        view = f"kconnect_{uuid.uuid4().hex}"
        on = " AND ".join(f"t.{key} <=> s.{key}" for key in map(quoted, keys))
        deletes = f"s.{quoted(deleted)}" if deleted else "false"
        statement = (
            f"MERGE INTO {self.name} AS t USING {view} AS s ON {on}"
            + (f" WHEN MATCHED AND {deletes} THEN DELETE" if deleted else "")
            + f" WHEN MATCHED THEN UPDATE SET {', '.join(f't.{column} = s.{column}' for column in columns)}"
            + f" WHEN NOT MATCHED AND NOT {deletes} THEN INSERT ({', '.join(columns)})"
            + f" VALUES ({', '.join(f's.{column}' for column in columns)})"
        )

        rows, count = counted(rows, deleted)

        def write() -> None:
            if self.is_empty():  # no key has to be looked for
                added = rows if deleted is None else rows.where(f"NOT {quoted(deleted)}").drop(deleted)
                self._append(self._while_empty(added))
            else:
                self.spark.sql(statement)

        rows.createTempView(view)
        try:
            self._write(plan, write, count)
        finally:
            self.spark.catalog.dropTempView(view)

    def publish(self, plan: SinkPlan) -> dict[str, Any]:
        return self._facts.pop(plan.identity, {})

    def place(self) -> dict[str, Any]:
        return {"location": str(self._log().dataPath().toString()), **super().place()}

    def maintain(self, order: TableUpkeep) -> dict[str, Any]:
        return DeltaUpkeep(self.spark, self.name, order).run()

    def discard(self, plan: SinkPlan) -> None:
        self._facts.pop(plan.identity, None)

    def check(self, plan: SinkPlan, count: RowCount) -> None:
        own = (plan.application, plan.number)
        marked_so = (each for each in self._commits() if each.mark and (each.mark.application, each.mark.number) == own)
        if (commit := next(marked_so, None)) is not None:
            self._check(plan, commit, count)

    def _check(self, plan: SinkPlan, commit: Commit, count: RowCount) -> None:
        if commit.rows is None or (given := count.unlike(commit.rows, at_least=commit.is_merge)) is None:
            return
        raise self.miscounted(
            plan,
            commit.rows,
            given,
            f"They are its version {commit.version}, and no offsets were committed. An extension of Spark"
            " (`spark.sql.extensions`) takes rows away, or adds some: remove it. Then bring the table back to version"
            f" {commit.version - 1} (`RESTORE TABLE`), or add what is missing{self._remedy(plan)}",
        )

    def _write(self, plan: SinkPlan, write: Callable[[], object], count: RowCount | None) -> None:
        """Write once; what another writer has changed in between is seen by the next attempt.

        :raises DataError: the table has not taken as many rows as there are.
        :raises RetriableError: another run has written the plan at the same time, or others are too fast.
        """
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        for _ in range(_ATTEMPTS):
            attempt = uuid.uuid4().hex
            try:
                with self._session_settings(plan, attempt):
                    write()
            except (Py4JJavaError, PySparkException) as error:
                if not _is_conflict(error):
                    raise
                if self.has(plan):
                    raise self._overtaken(plan) from error
                continue
            commit = self._commit_of(attempt, plan)
            if commit is None:
                raise self._overtaken(plan)
            if count is not None:
                self._check(plan, commit, count)
            self._facts[plan.identity] = {**commit.written(), "snapshots": 1, "snapshot": commit.version}
            return
        raise RetriableError(f"table {self.name}: other writers were faster {_ATTEMPTS} times; try again")

    def _overtaken(self, plan: SinkPlan) -> RetriableError:
        return RetriableError(
            f"table {self.name}: another run of the connector has written plan {plan.identity} at the same time; the"
            " next run completes what is left of it"
        )

    def _session_settings(self, plan: SinkPlan, attempt: str) -> AbstractContextManager[None]:
        """What the session's next write is: a connector has a session of its own."""
        conf = {_APPLICATION: plan.application, _VERSION: str(plan.number), _MARK: marked(plan, attempt)}
        return with_conf(self.spark, conf)

    def _namespace(self) -> str | None:
        """What has to be there before the table is; None: nothing, as for a path."""
        *namespace, _ = parts_of(self.name)
        if not namespace or namespace == ["delta"]:
            return None
        return ".".join(map(quoted, namespace))

    def _allow_widening(self) -> None:
        set_to = self._property(ddl.TYPE_WIDENING)
        if set_to == "false":
            text = f"table {self.name}: a column needs a wider type, and its `{ddl.TYPE_WIDENING}` is false"
            raise ConfigError({"table.format": [text]}, self.settings.connector)
        if set_to is None:
            self.spark.sql(ddl.setting(self.name, {ddl.TYPE_WIDENING: "true"}))

    def _allow_types(self, changes: Sequence[Change]) -> None:
        """Types that came after Delta's first readers have to be allowed; at its creation a table does that itself."""
        has = self._snapshot().protocol().readerAndWriterFeatureNames()
        if wanted := [feature for feature in ddl.features(changes) if not has.contains(feature)]:
            self.spark.sql(ddl.setting(self.name, {f"delta.feature.{feature}": "supported" for feature in wanted}))

    def _newest(self, application: str, accepted: int | None) -> tuple[int | None, bool]:
        if accepted is None and self._property(_FORGETS) is None:
            return None, True
        return last_plan(self._commits(), application, accepted)

    def _accepted(self, application: str) -> int | None:
        """The last transaction of an application, which the table refuses to take again."""
        number = self._snapshot().transactions().get(application)
        return int(number.get()) if number.isDefined() else None

    def _commit_of(self, attempt: str, plan: SinkPlan) -> Commit | None:
        """None: the table had the plan, and has skipped it."""
        for commit in self._commits():
            if commit.mark is not None and commit.mark.application == plan.application:
                return commit if commit.mark.attempt == attempt else None
        return None

    def _commits(self) -> Iterator[Commit]:
        return commits(self.spark, self.name)

    def _property(self, name: str) -> str | None:
        found = self._snapshot().metadata().configuration().get(name)
        return str(found.get()) if found.isDefined() else None

    def _snapshot(self) -> Any:
        """The table as it is now, as Delta's own classes know it."""
        nothing = self._java.scala.Option.empty()
        return self._log().update(False, nothing, nothing)

    def _log(self) -> Any:
        """:raises ConfigError: it is not a Delta table, or this Spark has none."""
        from pyspark.errors import AnalysisException

        try:
            return self._java.io.delta.tables.DeltaTable.forName(self.spark._jsparkSession, self.name).deltaLog()
        except AnalysisException as error:
            raise self._refusal("is not a Delta table", error) from error

    @property
    def _java(self) -> Any:
        jvm = self.spark._jvm
        assert jvm is not None
        return jvm

    def _refusal(self, what: str, error: Exception) -> ConfigError:
        return ConfigError(
            {"table.format": [f"table {self.name} {what}: {first_line(error)}"]}, self.settings.connector
        )


def _is_conflict(error: Exception) -> bool:
    """Whether a commit came too late: another one has changed what this one relies on."""
    if _NOT_EMPTY in str(error):
        return True
    cause = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None:
        name = str(cause.getClass().getName())
        if name.startswith("io.delta.exceptions.") or name.endswith("DeltaConcurrentModificationException"):
            return True
        cause = cause.getCause()
    return False
