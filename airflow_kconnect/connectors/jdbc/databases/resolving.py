"""How the database of a configuration is read and written: the classes that its facts name."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

from airflow_kconnect.connectors.jdbc.facts.registry import database_of

if TYPE_CHECKING:
    from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
    from airflow_kconnect.connectors.jdbc.sink.config import SinkSettings
    from airflow_kconnect.connectors.jdbc.sink.target import Target
    from airflow_kconnect.connectors.jdbc.source.dialect import Dialect


def dialect_of(url: JdbcUrl) -> Dialect:
    """How the database of a URL is read."""
    dialect: type[Dialect] = resolve_name(database_of(url.subprotocol).reader)
    return dialect(url)


def target_of(settings: SinkSettings) -> Target:
    """The target of a valid configuration."""
    target: type[Target] = resolve_name(database_of(settings.url.subprotocol).writer)
    return target(settings)
