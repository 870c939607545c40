"""Tasks ask the driver for ids, and get an id, a problem of their records, or the end of the run."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.converters.registered.desk import Assigned, Desk, Resolve, ask
from airflow_kconnect.registry.schema import RegisteredSchema

SCHEMA = RegisteredSchema("AVRO", "text", (("other", RegisteredSchema("AVRO", "ref")),))
Open = Callable[[Resolve], Desk]


@pytest.fixture
def opened() -> Iterator[Open]:
    desks: list[Desk] = []

    def open_(resolve: Resolve) -> Desk:
        desks.append(Desk("127.0.0.1", resolve))
        return desks[-1]

    yield open_
    for desk in desks:
        desk.close()


def _failing(error: Exception) -> Resolve:
    def resolve(shape: int, topic: str) -> tuple[int, RegisteredSchema]:
        raise error

    return resolve


def test_a_task_gets_id_and_schema(opened: Open) -> None:
    desk = opened(lambda shape, topic: (shape + len(topic), SCHEMA))

    assert ask(desk.address, 3, "four") == Assigned(7, SCHEMA)


def test_what_the_registry_rejects_is_a_problem_of_the_records(opened: Open) -> None:
    assert ask(opened(_failing(DataError("409"))).address, 0, "t") == Assigned(None, problem="409")


@pytest.mark.parametrize("error", [RetriableError("down"), ConfigError({"k": ["wrong"]})], ids=["down", "wrong"])
def test_other_errors_end_the_run_which_knows_them(opened: Open, error: Exception) -> None:
    desk = opened(_failing(error))

    with pytest.raises(RetriableError):
        ask(desk.address, 0, "t")
    assert desk.failure is error


def test_without_the_secret_there_is_no_answer(opened: Open) -> None:
    desk = opened(lambda shape, topic: (1, SCHEMA))

    with pytest.raises(Exception, match=r"rejected|digest"):
        ask(replace(desk.address, secret=b"another"), 0, "t")


def test_one_without_the_secret_does_not_stop_the_others(opened: Open) -> None:
    desk = opened(lambda shape, topic: (1, SCHEMA))
    with pytest.raises(Exception, match=r"rejected|digest"):
        ask(replace(desk.address, secret=b"another"), 0, "t")

    assert ask(desk.address, 0, "t").schema_id == 1


def test_one_that_says_nothing_does_not_hold_up_the_others(opened: Open) -> None:
    desk = opened(lambda shape, topic: (1, SCHEMA))

    with socket.create_connection((desk.address.host, desk.address.port)):
        assert ask(desk.address, 0, "t").schema_id == 1


def test_a_closed_desk_can_be_retried(opened: Open) -> None:
    desk = opened(lambda shape, topic: (1, SCHEMA))
    desk.close()

    with pytest.raises(RetriableError, match="The driver does not answer"):
        ask(desk.address, 0, "t")
