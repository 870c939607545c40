"""How databases are read, one module each."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.databases.mysql.reading import MySql
from airflow_kconnect.connectors.jdbc.databases.postgresql.reading import PostgreSql
from airflow_kconnect.connectors.jdbc.databases.sqlite.reading import Sqlite
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.connectors.jdbc.source.dialect import Dialect

_BY_SUBPROTOCOL: dict[str, type[Dialect]] = {
    "postgresql": PostgreSql,
    "mysql": MySql,
    "mariadb": MySql,
    "sqlite": Sqlite,
}


def dialect_of(url: JdbcUrl) -> Dialect:
    """The dialect of a database; one that is not known is read by what JDBC says of it."""
    return _BY_SUBPROTOCOL.get(url.subprotocol, Dialect)(url)
