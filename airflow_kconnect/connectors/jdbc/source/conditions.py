"""What the errors of databases mean for a run: the only place that says so, for the source and the sink alike.

PostgreSQL and most JDBC drivers tell them by SQL state, MySQL and MariaDB by numbers of their own, SQLite by names.
"""

from __future__ import annotations

import re
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

# https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html, https://mariadb.com/kb/en/mariadb-error-codes
DUPLICATE = (1062, 1586)
NULL = (1048, 1364)
MISFIT = (1264, 1265, 1292, 1366, 1406, 1690, 3140, 4025)
_NUMBERS = {
    Condition.LOGIN: (1045, 1130, 1698),
    Condition.DATABASE: (1044, 1049),
    Condition.RIGHTS: (1142, 1143, 1227, 1370),
    Condition.READ_ONLY: (1290, 1792, 1836),
    Condition.PASSING: (
        *(1020, 1021, 1040, 1053, 1080, 1114, 1158, 1159, 1160, 1161, 1203, 1205, 1206, 1213, 1226, 1317, 1927, 1969),
        *(3024, 4031),
    ),
    # The others: a packet or row that is too large, foreign keys, views, partitions, checks, SIGNAL of a trigger.
    Condition.ROW: (*DUPLICATE, *NULL, *MISFIT, 1118, 1153, 1216, 1369, 1452, 1526, 1644, 3819),
}
_BY_NUMBER = {number: condition for condition, numbers in _NUMBERS.items() for number in numbers}

# https://www.sqlite.org/rescode.html
_RESULTS = {
    Condition.DATABASE: ("AUTH", "CANTOPEN", "CORRUPT", "NOTADB", "PERM", "READONLY"),
    Condition.PASSING: ("BUSY", "FULL", "INTERRUPT", "IOERR", "LOCKED", "NOMEM", "PROTOCOL", "SCHEMA"),
    Condition.ROW: ("CONSTRAINT", "MISMATCH", "TOOBIG"),
}
_BY_RESULT = {name: condition for condition, names in _RESULTS.items() for name in names}


def by_state(state: str) -> Condition:
    """The meaning of a SQL state, which may be empty."""
    beginnings = (state[:length] for length in (5, 3, 2))
    return next((_STATES[text] for text in beginnings if text in _STATES), Condition.LASTING)


def by_number(number: int) -> Condition | None:
    """The meaning of an error number of MySQL or MariaDB; None: its SQL state must do. Those of clients pass."""
    return _BY_NUMBER.get(number, Condition.PASSING if 2000 <= number < 3000 else None)


def by_result(text: str) -> Condition | None:
    """The meaning of the name of SQLite's result code, such as ``SQLITE_BUSY_SNAPSHOT``, in a text; None: it is none
    that is known here."""
    found = re.search(r"\bSQLITE_([A-Z]+)", text)
    return _BY_RESULT.get(found[1]) if found else None
