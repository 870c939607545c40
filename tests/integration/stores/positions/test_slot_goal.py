"""Whether the reader of a slot was sent everything that the WAL had at some moment."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from airflow_kconnect.stores.positions.slot import SlotAddress
from airflow_kconnect.stores.positions.slot_goal import SlotGoal
from tests.support import unique
from tests.support.databases.postgres import PostgresDatabase, PostgresServer
from tests.support.databases.slots import debezium_config, reader_of, slot_of, write_wal
from tests.support.kafka import eventually


@pytest.fixture(scope="module")
def database(postgres: PostgresServer) -> PostgresDatabase:
    database = postgres.create_database()
    # Changes are decoded with the catalogue of their time: the publication comes first.
    database.execute("create publication other")
    return database


@pytest.fixture
def goal(database: PostgresDatabase) -> Iterator[tuple[str, SlotGoal]]:
    """A slot with WAL that no one has read, and the goal of reading all of it."""
    with slot_of(database, unique("slot").replace("-", "_")) as slot:
        write_wal(database, 2)
        found = SlotGoal(SlotAddress.of(debezium_config(database, slot)))
        yield slot, found
        found.close()


def test_without_a_reader_nothing_is_sent(goal: tuple[str, SlotGoal]) -> None:
    assert not goal[1].is_sent()


def test_a_reader_is_sent_all_of_it_even_if_nothing_of_it_is_captured(
    database: PostgresDatabase, goal: tuple[str, SlotGoal]
) -> None:
    with reader_of(database, goal[0]):
        assert eventually(goal[1].is_sent, True)


def test_a_server_that_does_not_answer_does_not_hold_up_a_run(goal: tuple[str, SlotGoal]) -> None:
    goal[1].close()
    assert goal[1].is_sent()
