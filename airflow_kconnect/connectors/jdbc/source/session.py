"""One run's access to the database: connect, find what is new, read it from one snapshot."""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.connector.source import Offset, PlanContext, ResumePoint, SourcePlan, Split
from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.connectors.jdbc.driver.connection import Database
from airflow_kconnect.connectors.jdbc.driver.drivers import use_driver
from airflow_kconnect.connectors.jdbc.driver.gateway import connect
from airflow_kconnect.connectors.jdbc.facts.registry import database_of
from airflow_kconnect.connectors.jdbc.source.chosen_table import Source
from airflow_kconnect.connectors.jdbc.source.chosen_tables import find_sources
from airflow_kconnect.connectors.jdbc.source.cursors import Position
from airflow_kconnect.connectors.jdbc.source.dialect import Dialect
from airflow_kconnect.connectors.jdbc.source.frames import Reader, resumable
from airflow_kconnect.connectors.jdbc.source.offering import offered
from airflow_kconnect.connectors.jdbc.source.offsets import QUERY_PARTITION, offset_of, partitions_of
from airflow_kconnect.connectors.jdbc.source.planning import BLOCKS, Pieces, Planner, Window, block_ranges, whole_table
from airflow_kconnect.connectors.jdbc.source.settings import SourceSettings
from airflow_kconnect.connectors.jdbc.source.tables import changes
from airflow_kconnect.connectors.jdbc.source.windows import Start, WindowFinder, committable, start_of
from airflow_kconnect.java_text.json import partition_identity

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)


class ReadingSession:
    """Holds the driver's connections; `close` ends them and with them the snapshot."""

    def __init__(self, settings: SourceSettings, dialect: Dialect) -> None:
        self.reading: list[Source] = []
        """The tables that `read` was last called for."""
        self._settings, self._dialect = settings, dialect
        self._opened: list[Database] = []
        self._session_start = dialect.session_start()
        self._exact_progress: dict[str, str] = {}
        self._db = self._connected()
        self._finder = WindowFinder(self._db, dialect, settings)

    def close(self) -> None:
        """End the connections. Never raises."""
        while self._opened:
            self._opened.pop().close()

    def _connected(self) -> Database:
        """A new connection; one that cannot be made is tried `connection.attempts` times."""
        settings, values = self._settings, self._settings.values
        properties = {**self._dialect.properties, **settings.properties}
        for attempts_left in reversed(range(values["connection.attempts"])):
            try:
                db = Database(lambda: connect(settings.url, properties, settings.props), settings.account)
                break
            except RetriableError as error:
                if not attempts_left:
                    raise
                log.warning("%s; trying again", error)
                time.sleep(values["connection.backoff.ms"] / 1000)
        self._opened.append(db)
        self._dialect.prepare(db)
        return db

    @cached_property
    def sources(self) -> list[Source]:
        """The tables. :raises ConfigError: they are not as the configuration needs them."""
        return find_sources(self._db, self._dialect, self._settings)

    def offered(self, within_s: float) -> dict[str, list[str]]:
        """See `Connector.offered`."""
        return offered(self._db, self._dialect, self._settings, within_s)

    def _find(self, split: Split) -> Source | None:
        identity = partition_identity(split.source_partition)
        sources = (s for s in self.sources if identity in map(partition_identity, s.partitions))
        return next(sources, None)

    def _source_of(self, split: Split) -> Source:
        source = self._find(split)
        if source is None:
            raise DataError(
                f"{self._settings.label}: an unfinished run has splits of {split.source_partition}, which the"
                " configuration no longer names; name it again until that run is finished"
            )
        return source

    # Planning

    def plan(self, context: PlanContext) -> SourcePlan:
        """What is new in each table, cut into splits."""
        now = self._dialect.now(self._db, self._settings.zone) if self._settings.initial_timestamp_ms == -1 else 0
        starts = {source.text: start_of(source, context, self._settings, now) for source in self.sources}
        notes = self._schema_changes(context, starts)
        end_ms = context.replay.end_ms if context.replay else None
        windows = self._finder.find(self.sources, starts, end_ms)
        db = self._snapshot()
        pieces = Pieces(self._settings.values["split.rows"], context)
        splits: list[Split] = []
        records_left, more = context.max_records, bool(windows.notes.get("left_for_next_run"))
        for source in self.sources:
            if source.text not in windows.by_table:
                continue
            # A copy is whole only in one plan: there are no offsets that a next one could begin at.
            full = not self._settings.mode.bulk and len(splits) >= (context.plan_splits or math.inf)
            if records_left == 0 or full:
                more = True
                break
            table_splits, rows, has_more = self._split(
                db, source, starts[source.text], windows.by_table[source.text], pieces, records_left
            )
            splits += table_splits
            more, records_left = more or has_more, None if records_left is None else max(0, records_left - rows)
        notes |= windows.notes
        return SourcePlan(tuple(splits), {**notes, "more": True} if more else notes)

    def _split(
        self, db: Database, source: Source, start: Start, window: Window, pieces: Pieces, max_rows: int | None
    ) -> tuple[list[Split], int, bool]:
        if source.cursor.columns:
            return Planner(db, self._dialect, source, start.partition).splits(window, pieces, max_rows)
        # Without a snapshot a row that is changed meanwhile could move to a block that was read before.
        size = None if db is self._db else self._dialect.blocks(db, source.table)
        if size is None:
            return [whole_table(source, start.partition)], 0, False
        blocks, rows = size
        return block_ranges(source, start.partition, blocks, pieces.count(rows)), rows, False

    def _schema_changes(self, context: PlanContext, starts: dict[str, Start]) -> dict[str, Any]:
        """What changed in the tables since their offsets were committed.

        :raises DataError: something did, and the policy is to fail.
        """
        differences_by_table = {}
        for source in self.sources:
            facts = context.facts_of(starts[source.text].partition) or {}
            if "columns" in facts and (differences := changes(json.loads(facts["columns"]), source.table.described())):
                differences_by_table[source.text] = differences
        for table, differences in differences_by_table.items():
            text = f"{self._settings.label}: table {table} changed since the last run: {'; '.join(differences)}"
            if self._settings.values["schema.change"] == "fail":
                raise DataError(f"{text}. Set `schema.change=evolve` to continue with the new schema")
            log.warning("%s", text)
        return {"schema_changes": differences_by_table} if differences_by_table else {}

    def _snapshot(self) -> Database:
        """The connection to plan with; where the database can, its view is that of all that is read."""
        if self._settings.isolation not in ("DEFAULT", "REPEATABLE_READ", "SERIALIZABLE"):
            return self._db
        if not database_of(self._settings.url.subprotocol).has_snapshots:
            return self._db
        db = self._connected()
        self._session_start = self._dialect.export_snapshot(db)
        return db

    # Reading

    def recheck(self, splits: Sequence[tuple[int, Split]]) -> set[int]:
        """See `NativeSourceConnector.recheck`."""
        given_up = set()
        for index, split in splits:
            source = self._find(split)
            if source is None and self._is_gone(split):
                given_up.add(index)
                continue
            self._check_unchanged(split, self._source_of(split))
            if split.detail["kind"] == BLOCKS:
                # Its rows may have moved to other blocks since: only a new copy of the table is whole.
                given_up.add(index)
        self._snapshot()
        return given_up

    def _is_gone(self, split: Split) -> bool:
        """Whether the table of a split was dropped."""
        if split.source_partition == QUERY_PARTITION:
            return False
        catalog = self._dialect.catalog(self._db)
        names = self._dialect.tables(self._db, self._settings.everything)
        there = {partition_identity(partition) for name in names for partition in partitions_of(name, catalog)}
        return partition_identity(split.source_partition) not in there

    def _check_unchanged(self, split: Split, source: Source) -> None:
        if split.detail["columns"] != source.table.fingerprint() and self._settings.values["schema.change"] == "fail":
            raise DataError(
                f"{self._settings.label}: the columns of {source.text} changed while a run over it was unfinished."
                " Set `schema.change=evolve` to read the rest of it with the new columns, or change them back"
            )

    def read(self, spark: SparkSession, splits: Sequence[tuple[int, Split, ResumePoint]]) -> RecordFrame:
        """See `NativeSourceConnector.read`."""
        settings = self._settings
        driver = use_driver(spark, settings.url, settings.props)
        options = {**self._dialect.properties, **settings.properties, "driver": driver}
        reader = Reader(self._dialect, settings, options, self._session_start)
        items = [(self._source_of(split), split, at) for _, split, at in splits]
        self.reading = list({source.text: source for source, *_ in items}.values())
        return reader.frame(spark, items)

    def resumable(self, split: Split) -> bool:
        """See `NativeSourceConnector.resumable`."""
        return resumable(self._source_of(split), self._dialect, split.detail["kind"])

    # Offsets

    def offset(self, split: Split, progress: ResumePoint) -> Offset | None:
        """See `NativeSourceConnector.offset`.

        A run that was stopped between equal timestamps, or at a time that the clocks of `db.timezone` leave out, says
        an earlier one and remembers next to it where it was: for Connect nothing is lost, for us nothing is doubled.
        """
        if self._settings.mode.bulk or (self._find(split) is None and self._is_gone(split)):
            return None
        source, position = self._source_of(split), Position.of(progress)
        identity = partition_identity(split.source_partition)
        self._exact_progress.pop(identity, None)
        if (committed := committable(position, source)) != position:
            self._exact_progress[identity] = str(progress)
        return offset_of(committed, source.zone)

    def facts(self, split: Split) -> dict[str, Any] | None:
        """See `NativeSourceConnector.facts`; called right after `offset`."""
        if self._find(split) is None and self._is_gone(split):
            return None
        behind = self._exact_progress.get(partition_identity(split.source_partition))
        described = json.dumps(self._source_of(split).table.described(), ensure_ascii=False)
        return {"columns": described} if behind is None else {"columns": described, "behind": behind}
