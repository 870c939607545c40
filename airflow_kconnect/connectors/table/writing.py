"""Writes a plan into its tables: which rows go where, what tables need for them, and what happens to bad records."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import Observation
from pyspark.sql import functions as F
from pyspark.sql import types as T

from airflow_kconnect.connect.connector.planned import PlanRecords
from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.connect.frame import ExpectedObjects, RecordFrame
from airflow_kconnect.connectors.changes import SCHEMA_CHANGE
from airflow_kconnect.connectors.table.catalogs.storage import storage_error
from airflow_kconnect.connectors.table.changes import Changes, changes_of, without_tombstones
from airflow_kconnect.connectors.table.columns.columns import COLUMNS as SCHEMALESS_COLUMNS
from airflow_kconnect.connectors.table.columns.columns import ColumnSettings, wanted_columns
from airflow_kconnect.connectors.table.columns.evolution import EVOLVE, IGNORE
from airflow_kconnect.connectors.table.columns.evolution import changes as changes_for
from airflow_kconnect.connectors.table.columns.rows import rows_of
from airflow_kconnect.connectors.table.columns.schemaless import expected_objects
from airflow_kconnect.connectors.table.columns.shapes import is_other_shape, only
from airflow_kconnect.connectors.table.dead_letters import COLUMNS, dead_letter_rows, is_bad, of_topic
from airflow_kconnect.connectors.table.formats.base import Table, TableDefinition, counted
from airflow_kconnect.connectors.table.identifiers import parts_of, quoted
from airflow_kconnect.connectors.table.kept_plans import KeptPlans
from airflow_kconnect.connectors.table.routing.routes import READ_FROM, ROUTES
from airflow_kconnect.connectors.table.routing.routing import full_name, own_name, with_suffix
from airflow_kconnect.connectors.table.routing.tables import Tables, is_of_dead_letters
from airflow_kconnect.connectors.table.routing.targets import Target, Targets, with_routes
from airflow_kconnect.connectors.table.routing.whitelist import with_only
from airflow_kconnect.connectors.table.settings import (
    ADD,
    DEAD_LETTERS,
    KAFKA,
    OPTIONAL,
    RECORD_KEY,
    TABLE,
    UPSERT,
    TableSettings,
)
from airflow_kconnect.runs.warnings import Kind, RunWarning

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ATTEMPTS = 3
_RECORD, _NAME, _TEMPORARY = "kconnect_record", "kconnect_name", "kconnect_column_"


class PlanWriter:
    """What a sink has learnt about its tables lasts as long as the run.

    :param kept: what Kafka knows of their plans.
    :param props: the connector's configuration.
    """

    def __init__(self, settings: TableSettings, tables: Tables, kept: KeptPlans, props: Mapping[str, str]) -> None:
        self._settings, self._tables, self._kept = settings, tables, kept
        self._targets = Targets(settings)
        self._letters = props.get("errors.deadletterqueue.topic.name")
        self._found: list[Target] = []
        self._left_out: dict[str, dict[str, None]] = {}

    def write(self, records: PlanRecords) -> Collection[str]:
        """See `PlannedSinkConnector.write`."""
        if self._settings.pk_mode == KAFKA and self._letters in records.plan.topics:
            text = "is kafka: dead letters cannot be replayed, as the offsets that their records had are not known"
            raise ConfigError({"pk.mode": [text]}, self._settings.connector)
        self._found = self._existing(self._targets.find(records))
        names = [target.full_name for target in self._found]
        for name in names:
            self._kept.check(self._tables[name])
        if not names:
            _count(records.good(with_routes(records.frame(), self._settings, ()).df)[0])
        elif not self._tables[names[0]].staged:
            records.announce([*names, *(self._dead_letters_of(each.name) for each in self._found if self._keeps_bad)])
        for n, target in enumerate(self._found):
            self._found[n] = self._written(records, target)
        return [*names, *(self._write_bad(records) if self._keeps_bad and records.bad else ())]

    def judged(self, frame: RecordFrame) -> DataFrame:
        """See `PlannedSinkConnector.judged`."""
        targets = self._found or self._opened()
        frame = with_routes(frame, self._settings, None if self._settings.creates else [each.name for each in targets])
        for target in targets:
            frame = self._judged_by(frame, target)
        return frame.df

    def _existing(self, targets: Sequence[Target]) -> list[Target]:
        """Those whose tables are there, or may be created. Records that name others are bad."""
        if self._settings.creates:
            return list(targets)
        missing = [target for target in targets if self._tables[target.full_name].columns() is None]
        if not missing:
            return list(targets)
        if not missing[0].others or self._settings.routing.patterns:
            key, name = self._settings.creates_key, missing[0].full_name
            text = f"is false, and there is no table {name}: create it, or set `{key}` to true"
            raise ConfigError({key: [text]}, self._settings.connector)
        there = [target for target in targets if target not in missing]
        names = tuple(target.name for target in there)
        return [replace(target, others=names) for target in there]

    def _written(self, records: PlanRecords, target: Target) -> Target:
        """Write the rows of one table; returns what is known of it now."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with records.attempt():
                    self._write(records, target)
                break
            except ConnectError:
                raise
            except Exception as error:
                if of_storage := storage_error(f"table {target.full_name}", str(error)):
                    raise of_storage from error
                if attempt == _ATTEMPTS or not is_other_shape(error):
                    raise
                target = self._targets.learn(records, target)
        return target

    def _write(self, records: PlanRecords, target: Target) -> None:
        table = self._tables[target.full_name]
        expected = self._expected(table, records, target)
        part = target.part(records.frame(target.topics, expected), self._settings)
        sources = [range_ for range_ in records.plan.ranges if target.topics is None or range_.topic in target.topics]
        shaped, changes = self._shaped(table, part.frame, len(sources))
        is_expected = expected is not None and shaped.value.shapes == (Shape(expected.schema),)
        columns = table.columns() if is_expected else None
        columns = columns or self._columns(table, shaped, changes)
        if changes is not None and "kafka_offset" in columns.names:
            text = f"table {table.name} has a column `kafka_offset`, a name that upserts need: rename it"
            raise ConfigError({"insert.mode": [text]}, self._settings.connector)
        rows = self._rows(table, shaped, changes, columns)
        good, count = records.good(rows, part.own, part.counted)
        good = unclashed(good.drop(READ_FROM, ROUTES), columns)
        if not columns.fields:
            _count(good)
        elif table.has(records.plan):  # by an interrupted run: its bad records may not be dealt with
            good, count = (good, count) if changes is None else changes.counted(good)
            _count(good)
            table.check(records.plan, count)
        elif changes is not None:
            changes.write(table, records.plan, good)
        else:
            table.append(records.plan, good.select(*(quoted(name) for name in columns.names)), count)

    def _expected(self, table: Table, records: PlanRecords, target: Target) -> ExpectedObjects | None:
        """What objects without a schema are if they fit into the columns of a table that rows are only added to."""
        own, settings = table.settings, column_settings(table.settings)
        is_apart = target.shapes is None and not target.others
        if own.schemaless != SCHEMALESS_COLUMNS or own.mode == UPSERT or own.whitelist or settings.case_insensitive:
            return None
        look = records.look(target.topics)
        if not is_apart or [shape.schemaless for shape in look.value.shapes] != [True]:
            return None
        columns = table.columns() or self._columns(table, self._shaped(table, look, 1)[0], None)
        fields = [each for each in columns.fields if each.name not in settings.metadata.values()]
        return expected_objects(
            T.StructType(fields),
            strict=settings.evolution.get(ADD) != IGNORE,
            required=settings.evolution.get(OPTIONAL) == EVOLVE,
        )

    def _shaped(self, table: Table, frame: RecordFrame, sources: int) -> tuple[RecordFrame, Changes | None]:
        """The records as what they are in the table; None: rows that are only added."""
        settings, changes = table.settings, None
        if settings.mode == UPSERT:
            changes = changes_of(frame, settings, settings.keys, sources)
        frame = without_tombstones(frame) if changes is None else changes.frame
        # Not before: what says that a row is deleted need not be a column.
        return with_only(frame, (*settings.whitelist, *settings.keys)) if settings.whitelist else frame, changes

    def _rows(self, table: Table, shaped: RecordFrame, changes: Changes | None, columns: T.StructType) -> DataFrame:
        """The rows of the table; what it cannot take has an ``error``."""
        deleted = None if changes is None else changes.deleted
        rows = clashing(rows_of(shaped, columns, column_settings(table.settings), deleted), columns, shaped.carried)
        return rows if changes is None else changes.checked(rows)

    def _columns(self, table: Table, frame: RecordFrame, changes: Changes | None) -> T.StructType:
        """The columns of the table after it was created or changed for the records; none: no record needs the table.

        Records that need what is not changed are bad, or lose a field: the warnings say which.
        """
        known, settings = table.columns(), table.settings
        fields = column_settings(settings)
        wanted = wanted_columns(frame, fields, known)
        keys = settings.keys if changes is None else changes.keys
        if changes is not None and wanted.fields:
            changes.check_columns((known or wanted).names, settings.connector)
        if known is None:
            if not wanted.fields:
                return wanted
            self._kept.check_there(table)
            return self._created(table, wanted, keys, settings.partition_by)
        if frame.value.absent:
            return known  # records that only delete by their keys: they need no other column, and lack none
        evolution = changes_for(known, wanted, settings.evolution, fold=fields.fold, keys=keys)
        self._left_out.setdefault(table.name, {}).update(dict.fromkeys(evolution.ignored))
        if evolution.changes:
            table.change(evolution.changes)
            return table.columns() or known
        return known

    def warnings(self) -> list[str]:
        """What became of records that their tables could not take as they are."""
        return [
            RunWarning(Kind.ALTERED, f"table {name}: {'; '.join(texts)}. See `{SCHEMA_CHANGE}`")
            for name, texts in sorted(self._left_out.items())
            if texts
        ]

    def _created(self, table: Table, columns: T.StructType, keys: Sequence[str], parts: Sequence[str]) -> T.StructType:
        settings = table.settings
        location = settings.location and settings.location.replace(TABLE, parts_of(table.name)[-1])
        table.create(TableDefinition(columns, tuple(keys), tuple(parts), location, settings.properties))
        return table.columns() or columns

    def _judged_by(self, frame: RecordFrame, target: Target) -> RecordFrame:
        """The frame with the errors that a table's rows have, or would have."""
        table = self._tables[target.full_name]
        columns = table.columns()
        names, error = frame.df.columns, F.col(f"{_RECORD}.error")
        record = F.struct(*map(quoted, names))
        part = frame if target.shapes is None else only(frame, target.shapes, strict=False)
        part = replace(part.with_columns({_RECORD: record}), carried=(*frame.carried, _RECORD))
        shaped, changes = self._shaped(table, part, 1)
        rows = shaped.df if columns is None else self._rows(table, shaped, changes, columns)
        is_own = F.array_contains(F.col(f"{_RECORD}.{ROUTES}"), target.name)
        cells = [F.col(f"{_RECORD}.{quoted(name)}") for name in names if name != "error"]
        return frame.with_df(rows.select(*cells, F.when(is_own, F.col("error")).otherwise(error).alias("error")))

    def _opened(self) -> list[Target]:
        """The tables of an interrupted plan, which this run has not written."""
        names = [table.name for table in self._tables if not is_of_dead_letters(table.name)]
        return [Target(own_name(self._settings.routing, name), name) for name in names]

    @property
    def _keeps_bad(self) -> bool:
        return self._settings.dead_letter_table

    def _dead_letters_of(self, name: str) -> str:
        return full_name(self._settings.routing, with_suffix(name, DEAD_LETTERS))

    def _write_bad(self, records: PlanRecords) -> Iterator[str]:
        """Write the bad records of a plan to the tables for them; yields their names."""
        rows = self.judged(records.originals())
        nowhere = of_topic(self._settings.routing, F.col("original.topic"))
        name = F.coalesce(F.get(ROUTES, F.lit(0)), nowhere)
        bad = _counted(rows.withColumn(_NAME, name)).where(is_bad(F.col("error")))
        names = sorted(row[_NAME] for row in bad.select(_NAME).distinct().collect())
        full_names = {each: self._dead_letters_of(each) for each in names}
        if names and not self._tables[full_names[names[0]]].staged:
            records.announce(list(full_names.values()))
        for each, full in full_names.items():
            table = self._tables[full]
            if table.columns() is None:
                self._created(table, COLUMNS, (), ())
            rows, count = counted(dead_letter_rows(bad.where(F.col(_NAME) == each), self._settings.connector))
            if table.has(records.plan):
                _count(rows)
                table.check(records.plan, count)
            else:
                table.append(records.plan, rows, count)
            yield full


def column_settings(settings: TableSettings) -> ColumnSettings:
    """How records become columns of these tables."""
    return ColumnSettings(
        evolution=settings.evolution,
        metadata=settings.metadata,
        optional=settings.optional,
        case_insensitive=settings.case_insensitive,
        key=settings.keys if settings.pk_mode == RECORD_KEY else None,
        value=settings.value_column,
        schemaless=settings.schemaless,
    )


def clashing(rows: DataFrame, columns: T.StructType, carried: Collection[str]) -> DataFrame:
    """Rows whose first columns are those of the table: the names that others have too are replaced for a while."""
    names = [_TEMPORARY + name if name in carried else name for name in columns.names]
    return rows if names == columns.names else rows.toDF(*names, *rows.columns[len(names) :])


def unclashed(rows: DataFrame, columns: T.StructType) -> DataFrame:
    """The rows with their own names, as far as these are free."""
    own = {_TEMPORARY + name: name for name in columns.names if _TEMPORARY + name in rows.columns}
    others = [name for name in own.values() if name in rows.columns]
    return rows.drop(*others).withColumnsRenamed(own) if own else rows


def _counted(rows: DataFrame) -> DataFrame:
    """The rows. A filter after it is applied there, and not where Spark would evaluate everything twice."""
    return rows.observe(Observation(), F.count(F.lit(1)).alias("rows"))


def _count(rows: DataFrame) -> None:
    """Run the job for its counts only."""
    rows.write.format("noop").mode("overwrite").save()
