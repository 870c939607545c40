"""From the name of a database in URLs to its target; drivers are imported only when one is used."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.databases.mysql.writing import MySqlTarget
from airflow_kconnect.connectors.jdbc.databases.postgresql.writing import PostgresTarget
from airflow_kconnect.connectors.jdbc.databases.sqlite.writing import SqliteTarget
from airflow_kconnect.connectors.jdbc.sink.config import SinkSettings
from airflow_kconnect.connectors.jdbc.sink.target import Target

_TARGETS: dict[str, type[Target]] = {
    "mariadb": MySqlTarget,
    "mysql": MySqlTarget,
    "postgresql": PostgresTarget,
    "sqlite": SqliteTarget,
}


def target_of(settings: SinkSettings) -> Target:
    """The target of a valid configuration."""
    return _TARGETS[settings.url.subprotocol](settings)
