"""The registry entry of DuckDB."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.facts.condition import Condition
from airflow_kconnect.connectors.jdbc.facts.entry import Database, names
from airflow_kconnect.connectors.jdbc.facts.errors.duckdb import by_kind

# None that loads extensions, reads other files, or sends what it is given elsewhere.
_PARAMETERS = """
    access_mode default_null_order default_order duckdb.read_only max_memory memory_limit preserve_insertion_order
    threads timezone worker_threads
"""


def _condition(number: int, message: str) -> Condition | None:
    return by_kind(message.removeprefix("java.sql.SQLException: "))


DUCKDB = Database(
    name="duckdb",
    example="jdbc:duckdb:/absolute/path",
    in_files=True,
    path_ends="[?;]",
    separators="[?;]",
    parameters=names(_PARAMETERS),
    driver_class="org.duckdb.DuckDBDriver",
    coordinates=("org.duckdb:duckdb_jdbc:2.0.0.1",),
    condition=_condition,
    # A file is open in one process that writes, or in several that read.
    misses_late_commits=False,
    reader="airflow_kconnect.connectors.jdbc.databases.duckdb.reading:DuckDb",
    writer="airflow_kconnect.connectors.jdbc.databases.duckdb.writing:DuckDbTarget",
)
