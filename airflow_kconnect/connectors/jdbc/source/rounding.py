"""Until when the timestamps of a table are complete, given the moment from which on they are not."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.driver.connection import Database
from airflow_kconnect.connectors.jdbc.source.chosen_table import Source
from airflow_kconnect.connectors.jdbc.source.cursors import Position
from airflow_kconnect.connectors.jdbc.source.dialect import Dialect
from airflow_kconnect.connectors.jdbc.source.offsets import settled_wall
from airflow_kconnect.connectors.jdbc.source.settings import SourceSettings
from airflow_kconnect.connectors.jdbc.source.units import DAY, MINUTE, apparent_unit, floored, wide_unit
from airflow_kconnect.runs.warnings import Kind, RunWarning

_MS = 1_000_000
# That many values are not whole minutes by chance.
_FEW = 3
_DATES = "the timestamps of {table} are dates: the rows of a day are read when that day is over"
_WIDE = (
    "the newest timestamps of {table} are whole {unit}: rows that get one which a run has read already are missed."
    " Set `timestamp.delay.interval.ms` to {ms} or more, or store exact timestamps"
)


class Rounding:
    """Rounds as columns and writers do.

    :param db: a connection that holds no snapshot.
    """

    def __init__(self, db: Database, dialect: Dialect, settings: SourceSettings) -> None:
        self._db, self._dialect = db, dialect
        self._is_careful = settings.values["late.commits"] == "wait"
        self._delay_ms: int = settings.values["timestamp.delay.interval.ms"]

    def settled(self, source: Source, start: Position | None, horizon: int) -> tuple[int, list[RunWarning]]:
        """The first timestamp, as it is in the table, that rows from a moment on can get, and what to warn of.

        :param start: where reading begins.
        :param horizon: the moment, nanoseconds since the epoch.
        """
        end = settled_wall(horizon, source.zone)
        if not self._is_careful:
            return end, []
        end = floored(end, source.unit)
        if source.unit >= DAY:
            return end, [RunWarning(Kind.WAITING, _DATES.format(table=source.text))]
        newest = self._newest(source, start, end)
        if newest is None:
            return end, []
        return floored(end, apparent_unit(newest)), self._wide_warnings(source, newest)

    def _newest(self, source: Source, start: Position | None, end: int) -> int | None:
        cursor, quote = source.cursor, self._dialect.quote
        term = self._dialect.cursor_nanoseconds(f"MAX({cursor.timestamp})")
        where = (f"{cursor.after(start)} AND " if start else "") + cursor.before(end)
        (newest,) = self._db.row(f"SELECT {term} FROM {source.relation} {quote('t')} WHERE {where}")
        return None if newest is None else self._dialect.nanoseconds(newest)

    def _wide_warnings(self, source: Source, newest: int) -> list[RunWarning]:
        values = [newest]
        while values[-1] % MINUTE == 0 and len(values) < _FEW:
            if (before := self._newest(source, None, values[-1])) is None:
                return []
            values.append(before)
        wide = wide_unit(values)
        if wide is None or self._delay_ms >= wide[0] // _MS:
            return []
        return [RunWarning(Kind.LOST, _WIDE.format(table=source.text, unit=wide[1], ms=wide[0] // _MS))]
