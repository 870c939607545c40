"""What PostgreSQL's errors mean, in a line that holds no contents of rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, RefusedError, RetriableError
from airflow_kconnect.connectors.jdbc.sink_config import SinkSettings
from airflow_kconnect.connectors.jdbc.urls import encryption_problem

if TYPE_CHECKING:
    import psycopg

# Classes and codes of https://www.postgresql.org/docs/current/errcodes-appendix.html
_PASSING = ("08", "40", "53", "57P", "55P03", "58")
_REFUSED = ("22", "23")
_LOGIN = ("28",)
_NO_DATABASE = "3D000"
_COPY_PLACE = re.compile(r"^COPY .*?, line (?P<line>\d+)(?:, column (?P<column>.*?)(?:: |$))?", re.MULTILINE)


def translated(error: Exception, settings: SinkSettings) -> ConnectError | None:
    """The error in our terms; None if it is not psycopg's."""
    import psycopg

    if not isinstance(error, psycopg.Error):
        return None
    code = error.sqlstate or ""
    shown = settings.url.shown
    if code.startswith(_LOGIN) or (not code and _refused_login(str(error))):
        text = f"user {settings.user} was refused by {shown}: {_first_line(error)}"
        return ConfigError({"connection.password": [text]}, settings.connector)
    if not code and (problem := encryption_problem(_first_line(error))):
        return ConfigError({"connection.url": [f"{shown}: {problem}"]}, settings.connector)
    if code == _NO_DATABASE or (not code and "does not exist" in str(error)):
        return ConfigError({"connection.url": [f"{shown}: {_first_line(error)}"]}, settings.connector)
    if (not code and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)) or code.startswith(_PASSING):
        return RetriableError(f"the database is unavailable or busy: {_first_line(error)}")
    return (RefusedError if code.startswith(_REFUSED) else DataError)(_what(error, code))


def copy_place(error: BaseException) -> tuple[int, str | None] | None:
    """The line (from 1) and the column at which a COPY failed."""
    context = getattr(getattr(error, "diag", None), "context", None) or ""
    found = _COPY_PLACE.search(context)
    return (int(found["line"]), found["column"]) if found else None


def _what(error: psycopg.Error, code: str) -> str:
    diag = error.diag
    match code:
        case "23505":
            return (
                f"a row with that key exists already (constraint {diag.constraint_name}): use `insert.mode` upsert, "
                "or correct the keys"
            )
        case "23502":
            return f"column {diag.column_name} of {diag.table_name} must not be null, and a record has no value for it"
        case "42P10":
            return (
                "the table has no unique constraint over exactly the columns of the primary key: add one, or correct "
                "`pk.fields`"
            )
        case "42501":
            return f"{diag.message_primary}: grant it to the user, or use another one"
        case "0A000" | "3F000":
            cure = "set `table.name.format`, or rename the topic with the RegexRouter transformation"
            return f"{diag.message_primary}: {cure}"
        case "22P02" | "22007" | "22008" | "22003" | "22001":
            # The text quotes the value, which may be a secret.
            return re.sub(r':\s*".*', "", diag.message_primary or "", flags=re.DOTALL) or "a value does not fit"
        case _:
            return diag.message_primary or _first_line(error)


def _refused_login(text: str) -> bool:
    return any(word in text for word in ("password authentication failed", "no password supplied", "pg_hba.conf"))


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
