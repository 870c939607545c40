"""What a database has for the keys of a source to choose from: its tables, and columns that could be cursors."""

from __future__ import annotations

import time
from collections.abc import Mapping

from airflow_kconnect.connectors.jdbc.driver.connection import Database
from airflow_kconnect.connectors.jdbc.driver.drivers import PROPERTY_PREFIX
from airflow_kconnect.connectors.jdbc.source.chosen_tables import INTEGERS
from airflow_kconnect.connectors.jdbc.source.columns import Kind
from airflow_kconnect.connectors.jdbc.source.dialect import Dialect
from airflow_kconnect.connectors.jdbc.source.settings import SourceSettings
from airflow_kconnect.connectors.jdbc.source.tables import Column, TableName

MOST_TABLES, _MOST_DESCRIBED = 1_000, 50
_KEPT = ("name", "connector.class", "catalog.pattern", "schema.pattern", "table.types", "table.whitelist")
_KEPT_PREFIXES = (PROPERTY_PREFIX, "kconnect.jdbc.driver.")
_TIMES = (Kind.WALL, Kind.INSTANT)


def connection_only(props: Mapping[str, str]) -> dict[str, str]:
    """See `Connector.connection_only`: what says how to connect, and where tables are looked for."""
    kept = {key: text for key, text in props.items() if key in _KEPT or key.startswith(_KEPT_PREFIXES)}
    return {"name": "connection", **kept, "connection.attempts": "1", "mode": "bulk"}


def offered(db: Database, dialect: Dialect, settings: SourceSettings, within_s: float) -> dict[str, list[str]]:
    """See `Connector.offered`. Columns are those of the tables that are chosen already, else of the first ones."""
    tables = dialect.tables(db, settings.scope)[:MOST_TABLES]
    chosen = set(settings.values["table.whitelist"])
    described = [table for table in tables if {table.name, _written(table), table.text} & chosen] or tables
    times: dict[str, None] = {}
    numbers: dict[str, None] = {}
    until = time.monotonic() + within_s
    for table in described[:_MOST_DESCRIBED]:
        if time.monotonic() > until:
            break
        for column in dialect.columns(db, f"SELECT * FROM {dialect.relation(table)}"):
            _sort(column, dialect, settings, times, numbers)
    names = [_written(table) for table in tables]
    return {
        "table.whitelist": names,
        "table.blacklist": names,
        "timestamp.column.name": list(times),
        "incrementing.column.name": list(numbers),
    }


def _sort(
    column: Column, dialect: Dialect, settings: SourceSettings, times: dict[str, None], numbers: dict[str, None]
) -> None:
    kind = dialect.kind(column, settings.numeric_mapping)
    if kind in _TIMES:
        times[column.name] = None
    elif kind in INTEGERS:
        numbers[column.name] = None


def _written(table: TableName) -> str:
    return f"{table.schema}.{table.name}" if table.schema else table.name
