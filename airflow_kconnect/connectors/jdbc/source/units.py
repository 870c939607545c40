"""How exact timestamps are: those that a column can hold, and those that are in it. Pure rules.

A column of seconds holds 12:00:05 for all that is written in that second, and a database that rounds puts what is
written at 12:00:05.6 into the next one. So if rows are written from a moment on, their timestamps begin at that moment
rounded *down* to the column's unit, whichever way the database or the application rounds.
"""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.source.columns import Kind
from airflow_kconnect.connectors.jdbc.source.tables import Column

MICROSECOND, SECOND = 1_000, 1_000_000_000
MINUTE, HOUR, DAY = 60 * SECOND, 3_600 * SECOND, 86_400 * SECOND
_DIGITS_MAX = 9
# What the scale that JDBC tells does not say. SQL Server's `datetime` has 1/300 s: ten milliseconds are three of these.
_OWN = {"datetime": 10_000_000, "smalldatetime": MINUTE}
_WIDE = {MINUTE: "minutes", HOUR: "hours", DAY: "days"}


def unit_of(column: Column, kind: Kind | None) -> int:
    """What the timestamps of a column are multiples of, in nanoseconds."""
    if kind is Kind.DATE:
        return DAY
    if column.fraction is None and (own := _OWN.get(column.type_name.lower())) is not None:
        return own
    digits = column.scale if column.fraction is None else column.fraction
    unit: int = 10 ** (_DIGITS_MAX - min(max(digits, 0), _DIGITS_MAX))
    return unit


def floored(nanoseconds: int, unit: int) -> int:
    """The last multiple of a unit that is not later."""
    return nanoseconds // unit * unit


def apparent_unit(nanoseconds: int) -> int:
    """What a value could have been rounded to: a second at most, as a whole minute comes too often by chance."""
    return next(unit for unit in (SECOND, 1_000_000, MICROSECOND, 1) if nanoseconds % unit == 0)


def wide_unit(values: list[int]) -> tuple[int, str] | None:
    """A unit of a minute or more, and its name, if all of the values are multiples of it."""
    return next(((unit, _WIDE[unit]) for unit in (DAY, HOUR, MINUTE) if all(v % unit == 0 for v in values)), None)
