"""A query that fails at one of its rows, after Spark has handed on those before it."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConnectError
from tests.integration.connectors.jdbc.conftest import Rows, SourceConfig
from tests.integration.runtime.conftest import Run
from tests.support.databases.postgres import PostgresDatabase

_QUERY = (
    "select g as n, 1 / (case when g = 55000 then (select d from divisor) else 1 end) as q"
    " from generate_series(1, 60000) g"
)


def test_what_was_read_before_is_not_taken_for_everything(
    db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    db.execute("create table divisor as select 0 as d")
    config = jdbc_source(db, **{"mode": "bulk", "query": _QUERY})
    with pytest.raises(ConnectError, match="division by zero"):
        run_here(config)
    db.execute("update divisor set d = 1")
    run_here(config)
    assert sorted(row["n"] for row in rows(config, "")) == list(range(1, 60001))
