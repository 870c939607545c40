"""From the name of a database in URLs to its target; drivers are imported only when one is used."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.sink_config import SinkSettings
from airflow_kconnect.connectors.jdbc.targets.mysql import MySqlTarget
from airflow_kconnect.connectors.jdbc.targets.postgres import PostgresTarget
from airflow_kconnect.connectors.jdbc.targets.sqlite import SqliteTarget
from airflow_kconnect.connectors.jdbc.targets.target import Target

_TARGETS: dict[str, type[Target]] = {
    "mariadb": MySqlTarget,
    "mysql": MySqlTarget,
    "postgresql": PostgresTarget,
    "sqlite": SqliteTarget,
}


def target_of(settings: SinkSettings) -> Target:
    """The target of a valid configuration."""
    return _TARGETS[settings.url.subprotocol](settings)
