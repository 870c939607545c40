"""The table of databases: the only place that knows which there are.

A further database is a module next to this one that says what it is, and its entry below.
"""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.facts.duckdb import DUCKDB
from airflow_kconnect.connectors.jdbc.facts.entry import Database
from airflow_kconnect.connectors.jdbc.facts.mysql import MARIADB, MYSQL
from airflow_kconnect.connectors.jdbc.facts.plain import DERBY, H2, HSQLDB, ORACLE, SQLSERVER
from airflow_kconnect.connectors.jdbc.facts.postgresql import POSTGRESQL
from airflow_kconnect.connectors.jdbc.facts.sqlite import SQLITE

DATABASES = (POSTGRESQL, MYSQL, MARIADB, SQLITE, DUCKDB, DERBY, H2, HSQLDB, ORACLE, SQLSERVER)
_BY_NAME = {database.name: database for database in DATABASES}


def database_of(subprotocol: str) -> Database:
    """The entry of a database; one that is not in the table is known by its JDBC driver only.

    :param subprotocol: of a URL, lower case.
    """
    return _BY_NAME.get(subprotocol) or Database(subprotocol)
