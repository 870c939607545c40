"""Sources of this package that commit only where records do not belong to those that follow pass the kit."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

import pytest

from airflow_kconnect.conformance.findings import Status
from airflow_kconnect.conformance.harness import SourceHarness
from airflow_kconnect.conformance.source_checks import SOURCE_CHECKS
from airflow_kconnect.conformance.task_checks import TASK_CHECKS
from tests.integration.conformance.conftest import Find

JSON = "org.apache.kafka.connect.json.JsonConverter"
WITHOUT_RUNS = ("offsets", "same-again")
NEEDS_MORE = ("errors",)


class TableByDlt(SourceHarness):
    """Rows of a table, two at a time: each second one is a resume point."""

    def config(self) -> Mapping[str, Any]:
        self._count = 0
        with sqlite3.connect(self._database) as connection:
            connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, amount NUMERIC(10, 2))")
        return {
            "dlt.source": "dlt.sources.sql_database:sql_table",
            "dlt.args.credentials": f"sqlite:///{self._database}",
            "dlt.args.table": "t",
            "dlt.args.chunk_size": "2",
            "dlt.args.incremental": '{"cursor_path": "id", "row_order": "asc"}',
            "dlt.hints.t": json.dumps({"table_name": self.topic}),
            "value.converter": JSON,
            "value.converter.schemas.enable": "false",
            "key.converter": JSON,
            "key.converter.schemas.enable": "false",
        }

    @property
    def _database(self) -> str:
        return str(self.folder / "shop.db")

    def add(self, count: int) -> None:
        rows = [(n,) for n in range(self._count, self._count + count)]
        with sqlite3.connect(self._database) as connection:
            connection.executemany("INSERT INTO t VALUES (?, 1.5)", rows)
        self._count += count


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check.name, marks=() if check.name in WITHOUT_RUNS else pytest.mark.exhaustive)
        for check in (*TASK_CHECKS, *SOURCE_CHECKS)
        if check.name not in NEEDS_MORE
    ],
)
def test_a_table_through_dlt_passes(check: str, find: Find) -> None:
    finding = find("DltSource", TableByDlt, check)
    assert finding.status is Status.PASSED, finding
