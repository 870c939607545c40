"""The table of databases: the only place that knows which there are.

A further database is a package next to this module whose `facts` say what it is, and its entry below.
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

from airflow_kconnect.connectors.jdbc.databases.duckdb.facts import DUCKDB
from airflow_kconnect.connectors.jdbc.databases.entry import Database
from airflow_kconnect.connectors.jdbc.databases.mysql.facts import MARIADB, MYSQL
from airflow_kconnect.connectors.jdbc.databases.plain.facts import DERBY, H2, HSQLDB, ORACLE, SQLSERVER
from airflow_kconnect.connectors.jdbc.databases.postgresql.facts import POSTGRESQL
from airflow_kconnect.connectors.jdbc.databases.sqlite.facts import SQLITE

if TYPE_CHECKING:
    from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
    from airflow_kconnect.connectors.jdbc.sink.config import SinkSettings
    from airflow_kconnect.connectors.jdbc.sink.target import Target
    from airflow_kconnect.connectors.jdbc.source.dialect import Dialect

DATABASES = (POSTGRESQL, MYSQL, MARIADB, SQLITE, DUCKDB, DERBY, H2, HSQLDB, ORACLE, SQLSERVER)
_BY_NAME = {database.name: database for database in DATABASES}


def database_of(subprotocol: str) -> Database:
    """The entry of a database; one that is not in the table is known by its JDBC driver only.

    :param subprotocol: of a URL, lower case.
    """
    return _BY_NAME.get(subprotocol) or Database(subprotocol)


def dialect_of(url: JdbcUrl) -> Dialect:
    """How the database of a URL is read."""
    dialect: type[Dialect] = resolve_name(database_of(url.subprotocol).reader)
    return dialect(url)


def target_of(settings: SinkSettings) -> Target:
    """The target of a valid configuration."""
    target: type[Target] = resolve_name(database_of(settings.url.subprotocol).writer)
    return target(settings)
