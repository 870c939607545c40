"""Rules between the keys of a JDBC source, and warnings about settings that do not do what the user may expect."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.jdbc.driver.drivers import driver_of, driver_properties
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl, subprotocol_of
from airflow_kconnect.connectors.jdbc.facts.entry import Database
from airflow_kconnect.connectors.jdbc.facts.registry import database_of
from airflow_kconnect.connectors.jdbc.source.config import Mode
from airflow_kconnect.runs.warnings import Kind, RunWarning
from airflow_kconnect.variables.syntax import has_reference

_NO_BOUND = (
    "is not possible with `mode=bulk`: a copy has no offset at which the next run could continue, so each run would"
    " read the same first rows. Read fewer tables at a time, or use another mode"
)


def config_errors(props: Mapping[str, str], known: frozenset[str]) -> dict[str, list[str]]:
    """What is wrong about several keys together, and with those that are passed on to the driver.

    :param known: the keys of the connector.
    """
    present = {key for key, text in props.items() if text.strip()}
    errors: dict[str, list[str]] = {}

    def wrong(key: str, text: str) -> None:
        errors.setdefault(key, []).append(text)

    filters = [key for key in ("table.whitelist", "table.blacklist", "table.include.list", "table.exclude.list")
               if key in present]  # fmt: skip
    queries = [key for key in ("query", "query.masked") if key in present]
    if len(queries) == 2:
        wrong("query", "only one of `query` and `query.masked` can be set")
    if queries and filters:
        wrong(filters[0], f"cannot be set together with `{queries[0]}`, which says what is read")
    if {"table.whitelist", "table.blacklist"} <= present:
        wrong("table.blacklist", "cannot be set together with `table.whitelist`")
    if {"table.whitelist", "table.include.list"} <= present:
        wrong("table.include.list", "cannot be set together with `table.whitelist`")
    if queries and "topic.prefix" not in present:
        wrong("topic.prefix", f"is needed with `{queries[0]}`: it is the topic of the records")
    if "topic.prefix" in present and not re.fullmatch(r"[a-zA-Z0-9._-]+", props["topic.prefix"].strip()):
        wrong("topic.prefix", "may only have letters, digits, '.', '_' and '-': it begins the names of topics")
    if "query.suffix" in present:
        wrong(
            "query.suffix", "is not possible here: rows are read in ranges, which it would break. Put it into `query`"
        )
    _check_mode(props, present, bool(queries), wrong)
    return errors | _driver_errors(props, known)


def _driver_errors(props: Mapping[str, str], known: frozenset[str]) -> dict[str, list[str]]:
    errors: dict[str, list[str]] = {}
    try:
        driver_properties(props, known)
    except ConfigError as error:
        errors |= error.errors
    try:
        driver_of(JdbcUrl.parse(props.get("connection.url", "")), props)
    except ConfigError as error:
        errors |= error.errors
    except ValueError:
        return errors  # the key's own error
    return errors


def _check_mode(props: Mapping[str, str], present: set[str], is_query: bool, wrong: Any) -> None:
    mode = Mode.of(props.get("mode", ""))
    for bound in {"kconnect.max.records", "kconnect.max.duration.ms"} & present if props.get("mode") == "bulk" else ():
        wrong(bound, _NO_BOUND)
    if mode.timestamp and not present & {"timestamp.column.name", "timestamp.columns.mapping"}:
        wrong("timestamp.column.name", f"is needed with `mode={props['mode']}`")
    if mode.incrementing and is_query and "incrementing.column.name" not in present:
        wrong("incrementing.column.name", "is needed with a query, whose columns are not numbered by the database")
    for names, mapping in (("timestamp.column.name", "timestamp.columns.mapping"),
                           ("incrementing.column.name", "incrementing.column.mapping")):  # fmt: skip
        if {names, mapping} <= present:
            wrong(mapping, f"cannot be set together with `{names}`")


def config_warnings(props: Mapping[str, str]) -> list[str]:
    """What depends on the database: keys that do nothing there, and rows that it can lose.

    Nothing where a variable stands for the URL: the job, which knows the database, warns.
    """
    if has_reference(props.get("connection.url", "")):
        return []
    database = database_of(subprotocol_of(props.get("connection.url", "")))
    return _isolation_warnings(props, database) + _late_commit_warnings(props, database)


def _isolation_warnings(props: Mapping[str, str], database: Database) -> list[str]:
    key = "transaction.isolation.mode"
    if database.has_snapshots or props.get(key, "DEFAULT").strip().upper() == "DEFAULT":
        return []
    return [f"`{key}` has no effect: a split is one statement, with the isolation that the database gives it"]


def _late_commit_warnings(props: Mapping[str, str], database: Database) -> list[str]:
    """Of a database whose open transactions do not show; with `late.commits=ignore` the user knows."""
    mode, is_ignored = Mode.of(props.get("mode", "")), props.get("late.commits", "wait").strip() == "ignore"
    if not database.misses_late_commits or mode.bulk or is_ignored:
        return []
    cure = "set `timestamp.delay.interval.ms` to longer than transactions take"
    if not mode.timestamp:
        cure = f"use a mode with timestamps, and {cure}"
    elif props.get("timestamp.delay.interval.ms", "0").strip() != "0":
        return []
    text = f"`mode`: rows that this database commits later than others with higher values are missed; {cure}"
    return [RunWarning(Kind.LOST, text)]
