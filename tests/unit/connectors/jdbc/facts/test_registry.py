"""The table of databases: what it names is there, and is imported only when it is used."""

from __future__ import annotations

import subprocess
import sys
from pkgutil import resolve_name

import pytest

from airflow_kconnect.connectors.jdbc.databases.plain.writing import PlainTarget
from airflow_kconnect.connectors.jdbc.databases.resolving import dialect_of
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.connectors.jdbc.facts.entry import Database
from airflow_kconnect.connectors.jdbc.facts.registry import DATABASES, database_of
from airflow_kconnect.connectors.jdbc.sink.target import Target
from airflow_kconnect.connectors.jdbc.source.dialect import Dialect

each = pytest.mark.parametrize("database", DATABASES, ids=lambda database: database.name)

IMPORTED = """
import sys
from airflow_kconnect.connectors.jdbc.databases.resolving import dialect_of
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl

def imported():
    return sorted(name for name in sys.modules if name.endswith((".reading", ".writing")) or name in DRIVERS)

DRIVERS = ("jpype", "pyspark", "psycopg", "pymysql", "sqlite3", "duckdb")
url = JdbcUrl.parse("jdbc:sqlite:/a.db")
print(*imported())
dialect_of(url)
print(*imported())
"""


@each
def test_a_url_finds_its_entry(database: Database) -> None:
    assert database_of(database.name) is database
    assert database.name == database.name.lower()


@each
def test_reader_and_writer_are_there(database: Database) -> None:
    assert issubclass(resolve_name(database.reader), Dialect)
    assert issubclass(resolve_name(database.writer), Target)
    assert database.example.startswith(f"jdbc:{database.name}:")


@each
def test_what_lineage_names_has_a_port(database: Database) -> None:
    assert database.lineage is None or database.port


def test_a_database_that_is_not_in_the_table_is_read_and_written_by_plain_jdbc() -> None:
    assert type(dialect_of(JdbcUrl.parse("jdbc:other://host/db"))) is Dialect
    assert resolve_name(database_of("other").writer) is PlainTarget


def test_rooms_are_entered_only_by_those_who_use_them() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTED], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["", "airflow_kconnect.connectors.jdbc.databases.sqlite.reading"]
