"""How databases are read, one module each."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.dialects.base import Dialect
from airflow_kconnect.connectors.jdbc.dialects.mysql import MySql
from airflow_kconnect.connectors.jdbc.dialects.postgresql import PostgreSql
from airflow_kconnect.connectors.jdbc.dialects.sqlite import Sqlite
from airflow_kconnect.connectors.jdbc.urls import JdbcUrl

_BY_SUBPROTOCOL: dict[str, type[Dialect]] = {
    "postgresql": PostgreSql,
    "mysql": MySql,
    "mariadb": MySql,
    "sqlite": Sqlite,
}


def dialect_of(url: JdbcUrl) -> Dialect:
    """The dialect of a database; one that is not known is read by what JDBC says of it."""
    return _BY_SUBPROTOCOL.get(url.subprotocol, Dialect)(url)
