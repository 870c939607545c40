"""Splits that nothing can divide, such as the rows of a query: each is one Kafka transaction, however long it takes."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.runtime.source import moving
from airflow_kconnect.runtime.source.moving import collect_reports
from tests.integration.connectors.jdbc.conftest import Rows, SourceConfig
from tests.integration.runtime.conftest import Run
from tests.support.databases.postgres import PostgresDatabase

# The first rows come at once, so that the transaction begins; the others take five seconds.
_SLOW = "select g as n from generate_series(1, 30025) g where g <= 30000 or pg_sleep(0.2) is not null"
_SHORT = {"producer.override.transaction.timeout.ms": "2000", "transaction.boundary.interval.ms": "1000"}


@pytest.fixture
def timeouts(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The `transaction.timeout.ms` of the producers that wrote splits."""
    found: list[Any] = []

    def collect(rows: Any, settings: Any) -> Any:
        found.extend(config.get("transaction.timeout.ms") for config in settings.producer_configs.values())
        return collect_reports(rows, settings)

    monkeypatch.setattr(moving, "collect_reports", collect)
    return found


@pytest.mark.exhaustive
def test_one_that_outlives_its_transaction_names_the_cause_and_a_cure_that_works(
    db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, rows: Rows, timeouts: list[Any]
) -> None:
    config = jdbc_source(db, **{"mode": "bulk", "query": _SLOW})
    with pytest.raises(RetriableError, match=r"raise `producer\.override\.transaction\.timeout\.ms`"):
        run_here({**config, **_SHORT})
    run_here(config)
    assert sorted(row["n"] for row in rows(config, "")) == list(range(1, 30026))
    assert timeouts == ["2000", 900_000]


def test_one_that_commits_in_parts_keeps_the_usual_timeout(
    db: PostgresDatabase, jdbc_source: SourceConfig, run_here: Run, timeouts: list[Any]
) -> None:
    db.execute("create table t (id serial primary key)")
    db.execute("insert into t default values")
    run_here(jdbc_source(db))
    assert timeouts == [None]
