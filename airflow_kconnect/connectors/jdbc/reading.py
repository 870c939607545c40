"""One run's dealings with the database: connect, find what is new, read it from one snapshot."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.canonical import partition_identity
from airflow_kconnect.connect.connector import PlanContext, Progress, SourcePlan, Split
from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.connectors.jdbc.cursors import Position
from airflow_kconnect.connectors.jdbc.database import Database
from airflow_kconnect.connectors.jdbc.dialects.base import Dialect
from airflow_kconnect.connectors.jdbc.dialects.postgresql import PostgreSql
from airflow_kconnect.connectors.jdbc.drivers import use_driver
from airflow_kconnect.connectors.jdbc.frames import Reader
from airflow_kconnect.connectors.jdbc.gateway import connect
from airflow_kconnect.connectors.jdbc.offsets import position_of, to_wall
from airflow_kconnect.connectors.jdbc.planning import Pieces, Planner, Window, whole_table
from airflow_kconnect.connectors.jdbc.settings import SourceSettings
from airflow_kconnect.connectors.jdbc.snapshots import export_snapshot
from airflow_kconnect.connectors.jdbc.sources import Source, find_sources

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)


class ReadingSession:
    """Holds the driver's connections; `close` ends them and with them the snapshot."""

    def __init__(self, settings: SourceSettings, dialect: Dialect) -> None:
        self._settings, self._dialect = settings, dialect
        self._opened: list[Database] = []
        self._session_start = dialect.session_start()
        self._db = self._connected()

    def close(self) -> None:
        """End the connections. Never raises."""
        while self._opened:
            self._opened.pop().close()

    def _connected(self) -> Database:
        """A new connection; one that cannot be reached is tried `connection.attempts` times."""
        settings, values = self._settings, self._settings.values
        for left in reversed(range(values["connection.attempts"])):
            try:
                db = Database(lambda: connect(settings.url, settings.properties, settings.props), settings.place)
                break
            except RetriableError:
                if not left:
                    raise
                time.sleep(values["connection.backoff.ms"] / 1000)
        self._opened.append(db)
        self._dialect.prepare(db)
        return db

    @cached_property
    def sources(self) -> list[Source]:
        """The tables. :raises ConfigError: they are not as the configuration needs them."""
        return find_sources(self._db, self._dialect, self._settings)

    def source_of(self, split: Split) -> Source:
        """The table that a split belongs to. :raises DataError: it is no longer there."""
        identity = partition_identity(split.source_partition)
        for source in self.sources:
            if any(partition_identity(partition) == identity for partition in source.partitions):
                return source
        raise DataError(
            f"{self._settings.place}: the unfinished plan has {split.source_partition}, which the configuration no"
            " longer names; put it back until the plan is done"
        )

    # Planning

    def plan(self, context: PlanContext) -> SourcePlan:
        """What is new in each table, cut into splits."""
        mode = self._settings.mode
        starts = {source.text: self._start(source, context) for source in self.sources}
        windows = {source.text: self._window(source, starts[source.text][1]) for source in self.sources}
        snapshot = self._snapshot()
        pieces = Pieces(self._settings.values["split.rows"], context)
        splits: list[Split] = []
        left, more = context.max_records, False
        for source in self.sources:
            if left == 0:
                more = True
                break
            window, partition = windows[source.text], starts[source.text][0]
            if mode.bulk and source.cursor.id is None:
                splits.append(whole_table(source, partition))
                continue
            planner = Planner(snapshot, self._dialect, source, partition)
            found, rows, has_more = planner.splits(window, pieces, left)
            splits += found
            more = more or has_more
            left = None if left is None else max(0, left - rows)
        return SourcePlan(tuple(splits), {"more": True} if more else {})

    def _start(self, source: Source, context: PlanContext) -> tuple[dict[str, Any], Position | None]:
        """The source partition to use, and where reading begins; None is the beginning of everything."""
        if self._settings.mode.bulk:
            return source.partitions[0], None
        for partition in source.partitions:
            offset = context.offset(partition)
            if offset is not None:
                found = position_of(source.text, offset, source.zone)
                keep = partition if "protocol" in partition or "query" in partition else source.partitions[0]
                return keep, self._completed(source, found)
        return source.partitions[0], self._completed(source, Position())

    def _completed(self, source: Source, found: Position) -> Position:
        """A position with what the offset does not say: the mode may have been another one."""
        settings = self._settings
        timestamp, number = found.timestamp, found.id
        if not settings.mode.timestamp:
            timestamp = None
        elif timestamp is None:
            timestamp = self._initial_timestamp(source)
        if not settings.mode.incrementing:
            number = None
        elif number is None:
            number = settings.values["incrementing.initial"]
        return Position(timestamp, number)

    def _initial_timestamp(self, source: Source) -> int:
        initial = self._settings.initial_timestamp_ms
        if initial == -1:
            wall, instant = self._dialect.now(self._db)
            return to_wall(instant, source.zone)
        return to_wall((initial or 0) * 1_000_000, source.zone)

    def _window(self, source: Source, start: Position | None) -> Window:
        if self._settings.mode.timestamp:
            _, instant = self._dialect.now(self._db)
            delay = self._settings.values["timestamp.delay.interval.ms"] * 1_000_000
            return Window(start, end_timestamp=to_wall(instant - delay, source.zone))
        return Window(start)

    def _snapshot(self) -> Database:
        """The connection to plan with; on PostgreSQL its view is that of all that is read."""
        if not isinstance(self._dialect, PostgreSql):
            return self._db
        db = self._connected()
        self._session_start = export_snapshot(db)
        return db

    # Reading

    def recheck(self, splits: Sequence[tuple[int, Split]]) -> set[int]:
        """See `NativeSourceConnector.recheck`."""
        for _, split in splits:
            source = self.source_of(split)
            if split.detail["columns"] != source.table.fingerprint():
                raise DataError(
                    f"{self._settings.place}: the columns of {source.text} changed while a run over it was unfinished"
                )
        self._snapshot()
        return set()

    def read(self, spark: SparkSession, splits: Sequence[tuple[int, Split, Progress]]) -> RecordFrame:
        """See `NativeSourceConnector.read`."""
        settings = self._settings
        driver = use_driver(spark, settings.url, settings.props)
        options = {**settings.properties, "driver": driver}
        reader = Reader(self._dialect, settings, options, self._session_start)
        return reader.frame(spark, [(self.source_of(split), split, at) for _, split, at in splits])
