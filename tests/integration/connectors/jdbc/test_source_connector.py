"""The JDBC source on every database that the machine has: modes, resuming, splits, bounds."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.replay import Replay
from tests.integration.connectors.jdbc.conftest import Rows, SourceConfig
from tests.integration.runtime.conftest import Run
from tests.support.databases.servers import Database

_CREATE = "create table orders (id integer not null primary key, what varchar(50), changed timestamp{0} not null)"


def _create(db: Database) -> None:
    db.execute(_CREATE.format("(6)" if "sqlite" not in db.url else ""))


def _insert(db: Database, ids: range) -> None:
    """Ten rows with the same timestamp, then the next second."""
    for first in range(ids.start, ids.stop, 500):
        part = range(first, min(first + 500, ids.stop))
        texts = [f"({n}, 'n{n}', '2024-01-01 00:{n // 600 % 60:02}:{n // 10 % 60:02}')" for n in part]
        db.execute(f"insert into orders values {', '.join(texts)}")


def _ids(found: list[dict[str, Any]]) -> list[int]:
    return [value["id"] for value in found]


def test_incrementing_reads_only_the_new_rows_of_each_table_in_each_run(
    each_database: Database, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    _create(each_database)
    _insert(each_database, range(3000))
    each_database.execute("create table people (id integer not null primary key, name varchar(20))")
    each_database.execute("insert into people values (1, 'a'), (2, null)")
    more = {"incrementing.column.name": "id", "split.rows": "1000", "key.from.primary.key": "true"}
    config = jdbc_source(each_database, **more)
    first = run_here(config)
    _insert(each_database, range(3000, 3010))
    second, third = run_here(config), run_here(config)
    assert (first.records["written"], second.records["written"]) == (3002, 10)
    assert first.splits > 1
    assert (third.records["read"], third.splits, third.complete) == (0, 0, True)
    assert {"incrementing": 3009} in [each["offset"] for each in second.offsets]
    assert sorted(_ids(rows(config, "orders"))) == list(range(3010))
    assert rows(config, "people") == [{"id": 1, "name": "a"}, {"id": 2, "name": None}]


def test_timestamp_mode_reads_changed_rows_again(
    each_database: Database, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    _create(each_database)
    _insert(each_database, range(2000))
    config = jdbc_source(
        each_database, **{"mode": "timestamp", "timestamp.column.name": "changed", "split.rows": "500"}
    )
    first = run_here(config)
    each_database.execute("update orders set changed = '2024-01-01 01:00:00.25', what = 'changed' where id < 3")
    second = run_here(config)
    assert (first.records["written"], second.records["written"]) == (2000, 3)
    assert second.offsets[0]["offset"] == {"timestamp": 1704070800250, "timestamp_nanos": 250000000}
    assert [value["what"] for value in rows(config, "orders")[-3:]] == ["changed"] * 3
    assert rows(config, "orders")[-1]["changed"] == 1704070800250


@pytest.mark.every_database
def test_timestamp_and_incrementing_tells_equal_timestamps_apart(
    each_database: Database, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    _create(each_database)
    _insert(each_database, range(1000))
    more = {"mode": "timestamp+incrementing", "timestamp.column.name": "changed", "incrementing.column.name": "id"}
    config = jdbc_source(each_database, **more, **{"split.rows": "300", "kconnect.max.records": "705"})
    first = run_here(config)
    second = run_here(config)
    assert (first.records["written"], second.records["written"]) == (705, 295)
    assert first.offsets[0]["offset"] == {
        "incrementing": 704, "timestamp": 1704067270000, "timestamp_nanos": 0,
    }  # fmt: skip
    assert sorted(_ids(rows(config, "orders"))) == list(range(1000))


def test_a_bound_in_timestamp_mode_never_parts_equal_timestamps(
    each_database: Database, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    _create(each_database)
    _insert(each_database, range(40))
    bounds = {"kconnect.max.records": "25"}
    config = jdbc_source(each_database, **{"mode": "timestamp", "timestamp.column.name": "changed"}, **bounds)
    written = [run_here(config).records["written"] for _ in range(2)]
    assert written == [20, 20]
    tiny = {**config, "name": f"{config['name']}-tiny", "kconnect.max.records": "3"}
    assert run_here(tiny).records["written"] == 10  # a group is never parted, or the run would not move
    assert sorted(_ids(rows(config, "orders"))) == sorted([*range(40), *range(10)])


def test_bulk_reads_everything_in_each_run(
    each_database: Database, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    _create(each_database)
    _insert(each_database, range(-5, 2000))
    config = jdbc_source(each_database, **{"mode": "bulk", "split.rows": "500"})
    first = run_here(config)
    second = run_here(config)
    assert first.splits > 1
    assert (first.offsets[0]["offset"], second.records["written"]) == (None, 2005)
    assert sorted(_ids(rows(config, "orders"))) == sorted([*range(-5, 2000)] * 2)


def test_query_is_read_as_a_table(
    each_database: Database, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    _create(each_database)
    _insert(each_database, range(100))
    query = "select id, what from orders where id % 2 = 0"
    more = {"query": query, "incrementing.column.name": "id", "validate.non.null": "false"}
    config = jdbc_source(each_database, **more)
    run_here(config)
    _insert(each_database, range(100, 110))
    report = run_here(config)
    assert report.offsets == [{"partition": {"query": "query"}, "offset": {"incrementing": 108}}]
    assert _ids(rows(config, "")) == list(range(0, 110, 2))


def test_an_interval_is_moved_again_next_to_the_live_offset(
    each_database: Database, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    _create(each_database)
    _insert(each_database, range(100))
    config = jdbc_source(each_database, **{"mode": "timestamp", "timestamp.column.name": "changed"})
    run_here(config)
    replay = run_here(config, interval=Replay(1704067202000, 1704067204000, "once"))
    assert replay.records["written"] == 20
    assert _ids(rows(config, "orders"))[100:] == list(range(20, 40))
    assert run_here(config).records["read"] == 0
