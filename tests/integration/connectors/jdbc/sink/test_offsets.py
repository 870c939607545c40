"""Offsets that the JDBC sink keeps with its data, as users alter and reset them."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.errors import FencedError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.jdbc.sink_connector import ConfluentJdbcSink
from tests.support.databases import mariadb
from tests.support.databases.servers import Database

ZERO, ONE = TopicPartition("orders", 0), TopicPartition("orders", 1)


@pytest.fixture
def config(each_database: Database) -> dict[str, str]:
    return {"name": "sink", "topics": "orders", "connection.attempts": "1", **each_database.config}


def stored(config: dict[str, str]) -> dict[TopicPartition, int]:
    """What a run finds that begins now."""
    return dict(ConfluentJdbcSink(config).take_over([ZERO, ONE]))


def test_the_next_run_finds_what_was_altered(config: dict[str, str]) -> None:
    ConfluentJdbcSink.alter_offsets(config, {ZERO: 9, ONE: 5})
    assert ConfluentJdbcSink.alter_offsets(config, {ZERO: 4})
    assert stored(config) == {ZERO: 4, ONE: 5}


def test_none_removes_one(config: dict[str, str]) -> None:
    ConfluentJdbcSink.alter_offsets(config, {ZERO: 9, ONE: 5})
    ConfluentJdbcSink.alter_offsets(config, {ONE: None})
    assert stored(config) == {ZERO: 9}


def test_a_run_in_progress_owns_nothing_any_more(config: dict[str, str]) -> None:
    run = ConfluentJdbcSink(config)
    run.take_over([ZERO])
    ConfluentJdbcSink.alter_offsets(config, {ZERO: 4})
    writer = run.writer()
    with pytest.raises(FencedError):
        writer.open(SinkSplit("orders", 0, 0, 10))
    writer.abort()


@pytest.mark.parametrize("server", ["postgres", "mariadb"])
def test_of_two_attempts_of_a_task_the_slower_one_is_to_be_retried(server: str, request: pytest.FixtureRequest) -> None:
    if server == "mariadb" and not mariadb.available():
        pytest.skip("this machine has no MariaDB")
    database: Database = request.getfixturevalue(server).create_database()
    run = ConfluentJdbcSink({"name": "sink", "topics": "orders", **database.config})
    run.take_over([ZERO])
    first, second = run.writer(), run.writer()
    for writer in (first, second):
        writer.open(SinkSplit("orders", 0, 0, 10))
    first.close(10)
    with pytest.raises(RetriableError, match="another attempt of this task has written it"):
        second.close(10)
    second.abort()


def test_a_split_that_begins_after_what_the_target_has_ends_the_run(config: dict[str, str]) -> None:
    ConfluentJdbcSink.alter_offsets(config, {ZERO: 4})
    run = ConfluentJdbcSink(config)
    run.take_over([ZERO])
    writer = run.writer()
    with pytest.raises(RetriableError, match="stored offset 4, but the split begins at 5"):
        writer.open(SinkSplit("orders", 0, 5, 10))
    writer.abort()


def test_a_run_that_begins_later_stores_that(config: dict[str, str]) -> None:
    ConfluentJdbcSink.alter_offsets(config, {ZERO: 4})
    run = ConfluentJdbcSink(config)
    run.take_over([ZERO, ONE])
    run.store_start({ZERO: 5, ONE: 0})
    assert stored(config) == {ZERO: 5, ONE: 0}


def test_a_run_that_was_overtaken_stores_no_start(config: dict[str, str]) -> None:
    run = ConfluentJdbcSink(config)
    run.take_over([ZERO])
    stored(config)
    with pytest.raises(FencedError):
        run.store_start({ZERO: 5})


def test_other_connectors_keep_theirs(config: dict[str, str]) -> None:
    ConfluentJdbcSink.alter_offsets(config | {"name": "other"}, {ZERO: 9})
    ConfluentJdbcSink.alter_offsets(config, {ZERO: 4})
    assert stored(config | {"name": "other"}) == {ZERO: 9}


def test_a_sink_without_a_table_of_offsets_has_none_to_alter(config: dict[str, str]) -> None:
    assert ConfluentJdbcSink.alter_offsets(config | {"offsets.table": ""}, {ZERO: 4})
