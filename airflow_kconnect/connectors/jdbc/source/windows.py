"""What is new in each table: from its offset to a point before which nothing can still appear."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from airflow_kconnect.connect.connector.source import PlanContext
from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.connectors.jdbc.driver.connection import Database
from airflow_kconnect.connectors.jdbc.source.chosen_table import Source
from airflow_kconnect.connectors.jdbc.source.cursors import Position
from airflow_kconnect.connectors.jdbc.source.dialect import Dialect
from airflow_kconnect.connectors.jdbc.source.late_commits import Holder, Horizon, LateCommits
from airflow_kconnect.connectors.jdbc.source.misfits import CURE
from airflow_kconnect.connectors.jdbc.source.numbering import Numbering
from airflow_kconnect.connectors.jdbc.source.offsets import position_of, to_instant, to_wall
from airflow_kconnect.connectors.jdbc.source.planning import Window, whole
from airflow_kconnect.connectors.jdbc.source.rounding import Rounding
from airflow_kconnect.connectors.jdbc.source.settings import SourceSettings
from airflow_kconnect.connectors.jdbc.source.units import HOUR
from airflow_kconnect.runs.warnings import Kind, RunWarning

log = logging.getLogger(__name__)

_MS = 1_000_000
# A transaction that is open for so long is not at work, most likely.
_LONG_NS = HOUR
_REPLICA = RunWarning(
    Kind.LOST,
    "the database is a replica, which does not know the open transactions of its primary: rows that are committed late"
    " can be missed. Set `timestamp.delay.interval.ms`, or read from the primary",
)

_OTHER_ZONE = (
    "the timestamps of {tables} do not know their zone and count as UTC, as `db.timezone` is not set, but the database"
    " has sessions in {zones}. What these write may be read late, or be missed if it is committed late. Set"
    " `db.timezone` to the zone of those who write, UTC if it is that"
)


@dataclass(frozen=True)
class Start:
    """Where a table's reading begins.

    :param partition: the source partition to use.
    :param position: None is before everything.
    :param known: whether there was an offset.
    """

    partition: dict[str, Any]
    position: Position | None
    known: bool = True


@dataclass
class Windows:
    """The windows by table; tables that must wait have none.

    :param notes: for the report.
    """

    by_table: dict[str, Window] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)


def start_of(source: Source, context: PlanContext, settings: SourceSettings, now: int) -> Start:
    """Where the offsets say that a table's reading begins.

    :param now: nanoseconds since the epoch, for `timestamp.initial=-1`.
    :raises DataError: the offset makes no sense.
    """
    if settings.mode.bulk:
        return Start(source.partitions[0], None)
    if context.replay is not None:
        return Start(source.partitions[0], before_group(Position(to_wall(context.replay.start_ms * _MS, source.zone))))
    for partition in source.partitions:
        offset = context.offset(partition)
        if offset is None:
            continue
        position = position_of(source.text, offset, source.zone)
        behind = Position.of(str(facts["behind"])) if "behind" in (facts := context.facts_of(partition) or {}) else None
        if behind is not None and committable(behind, source) == position:
            return Start(partition, behind)
        # What protocol 0 has written is continued under the table's full name.
        keep = partition if "protocol" in partition or source.table.name is None else source.partitions[0]
        return Start(keep, _completed(source, position, settings, now))
    return Start(source.partitions[0], _completed(source, Position(), settings, now), known=False)


def committable(position: Position, source: Source) -> Position:
    """The position that an offset can express: the same, or an earlier one."""
    if position.timestamp is None:
        return position
    if not source.cursor.id_is_offset and position.id is not None:
        position = before_group(position)
    assert position.timestamp is not None
    return replace(position, timestamp=to_wall(to_instant(position.timestamp, source.zone), source.zone))


def before_group(position: Position) -> Position:
    """The last position before all rows with the same timestamp: what an offset without tie breaker can say."""
    assert position.timestamp is not None
    return Position(position.timestamp - 1000)


def _completed(source: Source, position: Position, settings: SourceSettings, now: int) -> Position:
    """A position with what the offset does not say: the mode may have been another one."""
    timestamp = number = None
    if settings.mode.timestamp:
        initial = settings.initial_timestamp_ms
        first = now if initial == -1 else (initial or 0) * _MS
        timestamp = to_wall(first, source.zone) if position.timestamp is None else position.timestamp
    if settings.mode.incrementing:
        number = settings.values["incrementing.initial"] if position.id is None else position.id
    return Position(timestamp, number)


class WindowFinder:
    """Finds the windows; asks through a connection that holds no snapshot."""

    def __init__(self, db: Database, dialect: Dialect, settings: SourceSettings) -> None:
        self._db, self._dialect, self._settings = db, dialect, settings
        values = settings.values
        self._end: int | None = None
        self._rounding = Rounding(db, dialect, settings)
        self._late: LateCommits | None = None
        self._is_replica = False
        self._delay = values["timestamp.delay.interval.ms"] * _MS
        if values["late.commits"] == "wait" and not settings.mode.bulk:
            self._late = dialect.late_commits(db, values["late.commits.wait.ms"])

    def find(self, sources: Sequence[Source], starts: dict[str, Start], end_ms: int | None = None) -> Windows:
        """The windows; a snapshot that is taken after this has all of their rows.

        :param end_ms: the windows end at this time, ms since the epoch, or before.
        """
        self._end = None if end_ms is None else end_ms * _MS
        windows = Windows()
        if self._settings.mode.bulk:
            windows.by_table = {source.text: Window(None) for source in sources}
            return windows
        self._warn(windows, sources)
        self._refuse_lost_beginnings(sources, starts)
        if self._settings.mode.timestamp:
            self._by_timestamp(windows, sources, starts)
        else:
            self._by_number(windows, sources, starts)
        return windows

    def _warn(self, windows: Windows, sources: Sequence[Source]) -> None:
        """About rows that can be missed without anyone noticing."""
        warnings = self._zone_warnings([source for source in sources if source.is_wall])
        if self._late is not None and self._late.is_replica():
            self._late, self._is_replica = None, True
        if self._is_replica:
            warnings.append(_REPLICA)
        if self._late is not None:
            warnings += self._late.blind_spots(sources)
        for text in warnings:
            self._warn_of(windows, text)

    def _warn_of(self, windows: Windows, text: RunWarning) -> None:
        windows.notes.setdefault("warnings", []).append(text)
        log.warning("%s: %s", self._settings.label, text)

    def _zone_warnings(self, sources: Sequence[Source]) -> list[RunWarning]:
        """Of timestamps that do not know their zone."""
        if not sources or "db.timezone" in self._settings.props:
            return []
        tables, zones = ", ".join(source.text for source in sources), self._dialect.zones_of_writers(self._db)
        return [RunWarning(Kind.LOST, _OTHER_ZONE.format(tables=tables, zones=", ".join(zones)))] if zones else []

    def _by_number(self, windows: Windows, sources: Sequence[Source], starts: dict[str, Start]) -> None:
        numbering = Numbering(self._db, self._dialect, self._settings)
        for source in sources:
            (text,) = self._ask(source, f"MAX({source.cursor.id})")
            highest, start = None if text is None else whole(text), starts[source.text]
            assert start.position is not None and start.position.id is not None
            if start.known and numbering.restarts(source, highest, start.position.id):
                first = Position(id=self._settings.values["incrementing.initial"])
                last = first if highest is None else Position(id=highest)
                windows.by_table[source.text] = Window(first, last=last, is_restart=True)
            elif highest is not None and highest > start.position.id:
                windows.by_table[source.text] = Window(start.position, last=Position(id=highest))
        for warning in numbering.warnings:
            self._warn_of(windows, warning)
        waiting = [source for source in sources if source.text in windows.by_table]
        self._leave_written(windows, waiting)

    def _refuse_unreadable(self, source: Source) -> None:
        """Rows without a cursor would never be seen. :raises DataError: there are some."""
        condition = self._dialect.unreadable(source.timestamps)
        if condition and (rows := self._ask(source, "COUNT(*)", f" WHERE {condition}")[0]) != "0":
            names = ", ".join(column.name for column in source.timestamps)
            raise DataError(
                f"{self._settings.label}: {source.text} has {rows} rows in which {names} has a value that is not a"
                f" timestamp, so that they would never be read: {CURE}"
            )

    def _by_timestamp(self, windows: Windows, sources: Sequence[Source], starts: dict[str, Start]) -> None:
        for source in sources:
            self._refuse_unreadable(source)
        if self._late is None:
            end = self._dialect.now(self._db, self._settings.zone) - self._delay
        else:
            horizon = self._late.horizon(self._delay)
            if isinstance(horizon, Holder):
                for source in sources:
                    self._leave(windows, source.text, horizon)
                return
            end = horizon.instant
            self._note_horizon(windows, horizon)
        for source in sources:
            start = starts[source.text].position
            settled, warnings = self._rounding.settled(source, start, end)
            for warning in warnings:
                self._warn_of(windows, warning)
            windows.by_table[source.text] = Window(start, end_timestamp=self._whole_interval(source, settled))
        self._leave_written(windows, sources, prepared_only=True)

    def _whole_interval(self, source: Source, settled: int) -> int:
        """The end, or that of the interval that is moved again.

        :raises RetriableError: rows of the interval can still be committed.
        """
        if self._end is None:
            return settled
        if settled < (end := to_wall(self._end, source.zone)):
            raise RetriableError(
                f"{self._settings.label}: the interval ends later than the last moment whose rows are all committed;"
                " try again when the transactions of that time are over"
            )
        return end

    def _note_horizon(self, windows: Windows, horizon: Horizon) -> None:
        held_ns = self._dialect.now(self._db, self._settings.zone) - self._delay - horizon.instant
        if horizon.held_by and held_ns > self._settings.values["late.commits.wait.ms"] * _MS:
            since = f" since {horizon.held_by.since}" if horizon.held_by.since else ""
            windows.notes["held_back"] = f"rows{since} wait for {horizon.held_by}"
            if held_ns > _LONG_NS:
                hours = held_ns // HOUR
                text = (
                    f"{windows.notes['held_back']}, for {hours} h by now: end that transaction, no newer rows are read"
                )
                self._warn_of(windows, RunWarning(Kind.WAITING, text))
            else:
                log.warning("%s: %s", self._settings.label, windows.notes["held_back"])

    def _leave_written(self, windows: Windows, sources: Sequence[Source], *, prepared_only: bool = False) -> None:
        """Tables that are still written to by old transactions are left for the next run."""
        if self._late is None or not sources:
            return
        for table, holder in self._late.wait_for_writers(sources, prepared_only=prepared_only).items():
            self._leave(windows, table, holder)

    def _leave(self, windows: Windows, table: str, holder: Holder) -> None:
        windows.by_table.pop(table, None)
        windows.notes.setdefault("left_for_next_run", {})[table] = str(holder)
        text = (
            f"table {table} is left for the next run: {holder} can still add rows to what would be read. Nothing is"
            " lost; end that transaction, or raise `late.commits.wait.ms`"
        )
        self._warn_of(windows, RunWarning(Kind.WAITING, text))

    def _ask(self, source: Source, term: str, where: str = "") -> tuple[str | None, ...]:
        return self._db.row(f"SELECT {term} FROM {source.relation} {self._dialect.quote('t')}{where}")

    def _refuse_lost_beginnings(self, sources: Sequence[Source], starts: dict[str, Start]) -> None:
        """Without an offset reading begins at 0 or at 1970: rows before that would never be seen."""
        errors: dict[str, list[str]] = {}
        for source in sources:
            start = starts[source.text]
            if start.known or start.position is None:
                continue
            if self._settings.mode.timestamp:
                self._check_first_timestamp(source, start.position, errors)
            elif not self._settings.initial_id_given:
                self._check_first_number(source, start.position, errors)
        if errors:
            raise ConfigError(errors, self._settings.name)

    def _check_first_number(self, source: Source, start: Position, errors: dict[str, list[str]]) -> None:
        (lowest,) = self._ask(source, f"MIN({source.cursor.id})")
        if lowest is not None and start.id is not None and whole(lowest) <= start.id:
            text = f"{source.text} has rows from {lowest} on, which reading from {start.id} on would never see; set it"
            errors.setdefault("incrementing.initial", []).append(f"{text} to a lower number, or to -1 if that is meant")

    def _check_first_timestamp(self, source: Source, start: Position, errors: dict[str, list[str]]) -> None:
        settings, cursor = self._settings, source.cursor
        if settings.initial_key in settings.props or start.timestamp is None or cursor.timestamp is None:
            return
        where = f" WHERE {cursor.timestamp} <= {cursor.literal(start.timestamp)}"
        (rows,) = self._ask(source, "COUNT(*)", where)
        if rows != "0":
            text = f"{source.text} has {rows} rows with timestamps up to 1970, which would never be seen; set it"
            errors.setdefault(settings.initial_key, []).append(f"{text} lower (in ms), or to 0 if that is meant")
