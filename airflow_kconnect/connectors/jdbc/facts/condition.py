"""What the errors of databases mean for a run, for the source and the sink alike.

PostgreSQL and most JDBC drivers tell them by SQL state; what a database has of its own is in its room.
"""

from __future__ import annotations

from enum import Enum, auto


class Condition(Enum):
    """What kind of an error it is, by what helps."""

    LOGIN = auto()  # another user or password
    DATABASE = auto()  # another URL
    RIGHTS = auto()  # a grant
    READ_ONLY = auto()  # a sink: waiting for the new primary; a source: a query that does not write
    PASSING = auto()  # waiting
    ROW = auto()  # another row: the database refuses what is in this one
    LASTING = auto()  # whatever the text says


# https://www.postgresql.org/docs/current/errcodes-appendix.html; the longest beginning counts.
_STATES = {
    "08": Condition.PASSING,
    "22": Condition.ROW,
    "23": Condition.ROW,
    "25006": Condition.READ_ONLY,
    "28": Condition.LOGIN,
    "3D": Condition.DATABASE,
    "40": Condition.PASSING,
    "42501": Condition.RIGHTS,
    "44": Condition.ROW,  # WITH CHECK OPTION of a view
    "53": Condition.PASSING,
    "54000": Condition.ROW,  # too long for an index
    "55P03": Condition.PASSING,  # lock_timeout
    "57": Condition.PASSING,  # also 57014: cancelled by an administrator or by statement_timeout
    "58": Condition.PASSING,
    "HYT": Condition.PASSING,
    "P0001": Condition.ROW,  # RAISE EXCEPTION of a trigger
}


def by_state(state: str) -> Condition:
    """The meaning of a SQL state, which may be empty."""
    beginnings = (state[:length] for length in (5, 3, 2))
    return next((_STATES[text] for text in beginnings if text in _STATES), Condition.LASTING)
