"""What the errors of SQLite mean: their result codes have names."""

from __future__ import annotations

import re

from airflow_kconnect.connectors.jdbc.facts.condition import Condition

# https://www.sqlite.org/rescode.html
_RESULTS = {
    Condition.DATABASE: ("AUTH", "CANTOPEN", "CORRUPT", "NOTADB", "PERM", "READONLY"),
    Condition.PASSING: ("BUSY", "FULL", "INTERRUPT", "IOERR", "LOCKED", "NOMEM", "PROTOCOL", "SCHEMA"),
    Condition.ROW: ("CONSTRAINT", "MISMATCH", "TOOBIG"),
}
_BY_RESULT = {name: condition for condition, names in _RESULTS.items() for name in names}


def by_result(text: str) -> Condition | None:
    """The meaning of the name of SQLite's result code, such as ``SQLITE_BUSY_SNAPSHOT``, in a text; None: it is none
    that is known here."""
    match = re.search(r"\bSQLITE_([A-Z]+)", text)
    return _BY_RESULT.get(match[1]) if match else None
