"""The registry entry of SQLite."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.facts.condition import Condition
from airflow_kconnect.connectors.jdbc.facts.entry import Database, names
from airflow_kconnect.connectors.jdbc.facts.errors.sqlite import by_result

_PARAMETERS = """
    analysis_limit application_id busy_timeout cache cache_size case_sensitive_like date_precision
    date_string_format default_cache_size defer_foreign_keys encoding foreign_keys fullsync hexkey_mode immutable
    incremental_vacuum jdbc.explicit_readonly jdbc.get_generated_keys journal_mode journal_size_limit
    legacy_alter_table legacy_file_format limit_attached limit_column limit_compound_select limit_expr_depth
    limit_function_arg limit_length limit_like_pattern_length limit_page_count limit_sql_length
    limit_trigger_depth limit_variable_number limit_vdbe_op limit_worker_threads locking_mode max_page_count
    mmap_size mode nolock open_mode page_size psow read_uncommitted recursive_triggers reverse_unordered_selects
    secure_delete shared_cache short_column_names synchronous temp_store transaction_mode user_version
"""


def _condition(number: int, message: str) -> Condition | None:
    return by_result(message)


SQLITE = Database(
    name="sqlite",
    example="jdbc:sqlite:/absolute/path",
    in_files=True,
    path_ends="[?]",
    separators="[?&]",
    parameters=names(_PARAMETERS),
    driver_class="org.sqlite.JDBC",
    coordinates=("org.xerial:sqlite-jdbc:3.51.0.0",),
    condition=_condition,
    # A file has one writer at a time.
    misses_late_commits=False,
    reader="airflow_kconnect.connectors.jdbc.databases.sqlite.reading:Sqlite",
    writer="airflow_kconnect.connectors.jdbc.databases.sqlite.writing:SqliteTarget",
)
