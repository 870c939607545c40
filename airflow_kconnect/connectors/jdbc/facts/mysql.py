"""The registry entries of MySQL and MariaDB: two drivers, one way to read and to write."""

from __future__ import annotations

from dataclasses import replace

from airflow_kconnect.connectors.jdbc.facts import mysql_parameters
from airflow_kconnect.connectors.jdbc.facts.condition import Condition
from airflow_kconnect.connectors.jdbc.facts.entry import Database, Lineage, names
from airflow_kconnect.connectors.jdbc.facts.errors.mysql import by_number


def _condition(number: int, message: str) -> Condition | None:
    return by_number(number)


MYSQL = Database(
    name="mysql",
    example="jdbc:mysql://...",
    port=3306,
    hosts_have_keys=True,
    separators="[?&]",
    parameters=names(mysql_parameters.MYSQL),
    mark="`",
    driver_class="com.mysql.cj.jdbc.Driver",
    coordinates=("com.mysql:mysql-connector-j:9.5.0",),
    lineage=Lineage("mysql", None),
    condition=_condition,
    misses_late_commits=False,
    reader="airflow_kconnect.connectors.jdbc.databases.mysql.reading:MySql",
    writer="airflow_kconnect.connectors.jdbc.databases.mysql.writing:MySqlTarget",
)

MARIADB = replace(
    MYSQL,
    name="mariadb",
    example="jdbc:mariadb://...",
    parameters=names(mysql_parameters.MARIADB),
    driver_class="org.mariadb.jdbc.Driver",
    coordinates=("org.mariadb.jdbc:mariadb-java-client:3.5.6",),
    lineage=Lineage("mariadb", None),
)
