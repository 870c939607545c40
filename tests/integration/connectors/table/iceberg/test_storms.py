"""A table that many write at once, and a catalog that fails while a run publishes: every row is there once.

Two that publish at once, and a catalog whose answer is lost, are in `test_publication` and `test_catalogs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.connectors.table.formats.iceberg.patience import Patience
from airflow_kconnect.connectors.table.formats.iceberg.table import IcebergTable
from airflow_kconnect.runtime.sink import planned
from tests.integration.runtime.conftest import Run
from tests.integration.runtime.conftest import run_here as run_here
from tests.integration.runtime.sink.planned.conftest import Lake
from tests.integration.runtime.sink.planned.test_interrupted_plans import LakeTable
from tests.support import unique
from tests.support.spark.iceberg import append, changes, found, plan, rows, twin
from tests.support.spark.rest_catalog import RestCatalog

pytestmark = pytest.mark.exhaustive

PUBLISHERS = 10


def storm(table: IcebergTable, write: Callable[[IcebergTable, int], object]) -> list[int]:
    """Publishers of as many connectors, all of which have staged before the first one publishes. Those that gave up."""
    writers = [IcebergTable(table.spark.newSession(), table.name, table.settings) for _ in range(PUBLISHERS)]
    for n, writer in enumerate(writers):
        writer.patience = Patience(first_s=0.01, longest_s=0.5)
        write(writer, n)

    def publish(n: int) -> bool:
        try:
            return bool(writers[n].publish(plan(1, f"connector-{n}")))
        except RetriableError as error:
            assert "other writers were faster" in str(error)
            return False

    with ThreadPoolExecutor(PUBLISHERS) as threads:
        published = list(threads.map(publish, range(PUBLISHERS)))
    return [n for n, done in enumerate(published) if not done]


def test_each_of_ten_connectors_that_append_at_once_is_in_the_table_once_or_not_at_all(table: IcebergTable) -> None:
    late = storm(table, lambda one, n: one.append(plan(1, f"connector-{n}"), rows(one, [(n, "a")])))
    assert found(table) == [(n, "a") for n in range(PUBLISHERS) if n not in late]
    assert len(late) < PUBLISHERS
    for n in late:
        append(twin(table), 1, (n, "a"), application=f"connector-{n}")
    assert found(table) == [(n, "a") for n in range(PUBLISHERS)]


def test_ten_connectors_that_merge_at_once_lose_no_row(keyed: IcebergTable) -> None:
    append(keyed, 1, (100, "before"))

    def write(one: IcebergTable, n: int) -> None:
        one.merge(plan(1, f"connector-{n}"), changes(one, (n, "a", False), (100, f"of {n}", False)), ["id"], "gone")

    late = storm(keyed, write)
    *own, (common, text) = found(keyed)
    assert own == [(n, "a") for n in range(PUBLISHERS) if n not in late]
    assert common == 100 and text in {f"of {n}" for n in range(PUBLISHERS) if n not in late}


@pytest.fixture
def rest(spark: SparkSession, lake: str, tmp_path: Path) -> Iterator[RestCatalog]:
    server = RestCatalog(spark, tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.mark.parametrize("loses_answers", [True, False])
def test_a_catalog_that_fails_while_a_run_publishes_leaves_every_record_once(
    spark: SparkSession,
    bootstrap: str,
    lake: str,
    rest: RestCatalog,
    run_here: Run,
    loses_answers: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    catalog = unique("rested").replace("-", "_")  # the session of the tests keeps it
    target = LakeTable(Lake(spark, bootstrap, lake))
    conf: dict[str, Any] = {f"table.catalog.{key}": value for key, value in rest.conf.items() if key}
    config = {**target.config(), "table.name.format": "db.numbers", "table.catalog": catalog, **conf}

    def fail(name: str) -> None:
        if name == "before-visible":
            rest.loses_answers = loses_answers
            rest.fails = lambda method, path: None if loses_answers or method == "GET" else 503

    target.add(0, 50)
    with monkeypatch.context() as patch:
        patch.setattr(planned, "failpoint", fail)
        try:
            run_here(config)
        except RetriableError as error:
            assert f"table {catalog}." in str(error)
    rest.fails, rest.loses_answers = lambda method, path: None, False
    target.add(50, 60)
    run_here(config)
    session = spark.newSession()
    for key, value in rest.conf.items():
        session.conf.set(".".join(filter(None, ("spark.sql.catalog", catalog, key))), value)
    assert sorted(row.n for row in session.table(f"{catalog}.db.numbers").collect()) == list(range(60))
