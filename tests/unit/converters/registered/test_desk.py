"""Tasks ask the driver for ids, and get an id, a problem of their records, or the end of the run."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from airflow_kconnect.connect.errors import ConfigError, DataError, InternalError, RetriableError
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
    def resolve(shape: int, topic: str) -> tuple[bytes, RegisteredSchema]:
        raise error

    return resolve


def test_a_task_gets_what_names_a_schema_and_the_schema(opened: Open) -> None:
    desk = opened(lambda shape, topic: (bytes([shape, len(topic)]), SCHEMA))

    assert ask(desk.address, 3, "four") == Assigned(b"\3\4", SCHEMA)


def test_what_the_registry_rejects_is_a_problem_of_the_records(opened: Open) -> None:
    assert ask(opened(_failing(DataError("409"))).address, 0, "t") == Assigned(None, problem="409")


@pytest.mark.parametrize("error", [RetriableError("down"), ConfigError({"k": ["wrong"]})], ids=["down", "wrong"])
def test_other_errors_end_the_run_which_knows_them(opened: Open, error: Exception) -> None:
    desk = opened(_failing(error))

    with pytest.raises(RetriableError):
        ask(desk.address, 0, "t")
    assert desk.failure is error


def test_without_the_secret_there_is_no_answer(opened: Open) -> None:
    desk = opened(lambda shape, topic: (b"\1", SCHEMA))

    with pytest.raises(Exception, match=r"rejected|digest"):
        ask(replace(desk.address, secret=b"another"), 0, "t")


def test_one_without_the_secret_does_not_stop_the_others(opened: Open) -> None:
    desk = opened(lambda shape, topic: (b"\1", SCHEMA))
    with pytest.raises(Exception, match=r"rejected|digest"):
        ask(replace(desk.address, secret=b"another"), 0, "t")

    assert ask(desk.address, 0, "t").name == b"\1"


def test_one_that_says_nothing_does_not_stop_the_others(opened: Open) -> None:
    desk = opened(lambda shape, topic: (b"\1", SCHEMA))
    answers: list[Assigned] = []
    task = threading.Thread(target=lambda: answers.append(ask(desk.address, 0, "t")), daemon=True)

    with socket.create_connection((desk.address.host, desk.address.port)):
        task.start()
        task.join(timeout=30)
        answered = list(answers)

    assert answered == [Assigned(b"\1", SCHEMA)]


def test_tasks_of_a_whole_stage_are_answered(opened: Open) -> None:
    desk = opened(lambda shape, topic: (bytes([shape]), SCHEMA))
    answers: list[bytes | None] = []
    tasks = [threading.Thread(target=lambda n=n: answers.append(ask(desk.address, n, "t").name)) for n in range(40)]
    for task in tasks:
        task.start()
    for task in tasks:
        task.join(timeout=60)

    assert sorted(answer for answer in answers if answer is not None) == [bytes([n]) for n in range(40)]


def test_the_drivers_address_may_be_none_of_this_machine() -> None:
    desk = Desk("203.0.113.7", lambda shape, topic: (b"\1", SCHEMA))
    try:
        assert desk.address.host == "203.0.113.7"
        assert ask(replace(desk.address, host="127.0.0.1"), 0, "t") == Assigned(b"\1", SCHEMA)
    finally:
        desk.close()


def test_an_unexpected_error_is_that_of_the_run(opened: Open) -> None:
    desk = opened(_failing(KeyError("a bug")))

    with pytest.raises(RetriableError, match="a bug"):
        ask(desk.address, 0, "t")
    assert isinstance(desk.failure, InternalError)


def test_the_secret_is_not_shown(opened: Open) -> None:
    desk = opened(lambda shape, topic: (b"\1", SCHEMA))

    assert repr(desk.address.secret) not in repr(desk.address)


def test_a_closed_desk_can_be_retried(opened: Open) -> None:
    desk = opened(lambda shape, topic: (b"\1", SCHEMA))
    desk.close()

    with pytest.raises(RetriableError, match="The driver does not answer"):
        ask(desk.address, 0, "t")
