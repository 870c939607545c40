"""A run of the JDBC source is unfinished, and its database changes before the next one."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.runtime.source import run as source_run
from tests.integration.connectors.jdbc.conftest import Rows, SourceConfig
from tests.integration.runtime.conftest import Run
from tests.support.databases.postgres import PostgresDatabase


@pytest.mark.parametrize("mode", ["incrementing", pytest.param("bulk", marks=pytest.mark.exhaustive)])
def test_a_table_that_was_dropped_after_its_rows_were_moved_does_not_stop_the_connector(
    mode: str,
    db: PostgresDatabase,
    jdbc_source: SourceConfig,
    run_here: Run,
    rows: Rows,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for table in ("kept", "dropped"):
        db.execute(
            f"create table {table} (id bigserial primary key); insert into {table} select from generate_series(1, 3)"
        )
    config = jdbc_source(db, mode=mode)

    def stop(point: str) -> None:
        if point == "before-final-commit":
            raise RetriableError("interrupted")

    with monkeypatch.context() as patch, pytest.raises(RetriableError, match="interrupted"):
        patch.setattr(source_run, "failpoint", stop)
        run_here(config)
    db.execute("drop table dropped")
    assert run_here(config).resumed_plan
    if mode == "incrementing":
        db.execute("insert into kept select from generate_series(1, 2)")
        assert run_here(config).records["written"] == 2
        assert [row["id"] for row in rows(config, "kept")] == [1, 2, 3, 4, 5]
    assert len(rows(config, "dropped")) == 3
