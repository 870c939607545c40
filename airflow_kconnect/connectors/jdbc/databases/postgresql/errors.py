"""What PostgreSQL's errors mean, in a line that holds no contents of rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from airflow_kconnect.connect.errors import (
    ConfigError,
    ConnectError,
    DataError,
    RefusedError,
    RetriableError,
    first_line,
)
from airflow_kconnect.connectors.jdbc.driver.urls import encryption_problem
from airflow_kconnect.connectors.jdbc.facts.condition import Condition, by_state
from airflow_kconnect.connectors.jdbc.sink.config import SinkSettings
from airflow_kconnect.credentials.refused_logins import login_refused

if TYPE_CHECKING:
    import psycopg

_COPY_POSITION = re.compile(r"^COPY .*?, line (?P<line>\d+)(?:, column (?P<column>.*?)(?:: |$))?", re.MULTILINE)


def translated(error: Exception, settings: SinkSettings) -> ConnectError | None:
    """The error in our terms; None if it is not psycopg's."""
    import psycopg

    if not isinstance(error, psycopg.Error):
        return None
    code, text = error.sqlstate or "", first_line(error)
    match by_state(code) if code else _without_state(error, text):
        case Condition.LOGIN:
            return login_refused(settings.url.shown, settings.user, text, settings.connector)
        case Condition.DATABASE:
            problem = encryption_problem(text) or text
            return ConfigError({"connection.url": [f"{settings.url.shown}: {problem}"]}, settings.connector)
        case Condition.PASSING:
            return RetriableError(f"the database is unavailable or busy: {text}")
        case Condition.READ_ONLY:
            return RetriableError(f"the database takes no writes now, maybe it is an old primary: {text}")
        case Condition.ROW:
            return RefusedError(_what(error, code))
    return DataError(_what(error, code))


def _without_state(error: psycopg.Error, text: str) -> Condition:
    """Of an error that is not the server's."""
    import psycopg

    if _refused_login(str(error)):
        return Condition.LOGIN
    if encryption_problem(text) or "does not exist" in str(error):
        return Condition.DATABASE
    if isinstance(error, psycopg.DataError):
        return Condition.ROW
    unavailable = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return Condition.PASSING if unavailable else Condition.LASTING


def copy_position(error: BaseException) -> tuple[int, str | None] | None:
    """The line (from 1) and the column at which a COPY failed."""
    context = getattr(getattr(error, "diag", None), "context", None) or ""
    match = _COPY_POSITION.search(context)
    return (int(match["line"]), match["column"]) if match else None


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
            return diag.message_primary or first_line(error)


def _refused_login(text: str) -> bool:
    return any(word in text for word in ("password authentication failed", "no password supplied", "pg_hba.conf"))
