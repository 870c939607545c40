"""The line between a driver and the workers on executors."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from queue import Queue
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.hosted.control import Call, Line, Switchboard
from airflow_kconnect.hosted.jvm.gateway import JavaEnded


class Driver:
    """Takes calls."""

    def __init__(self) -> None:
        self.lines: Queue[tuple[Line, Mapping[str, Any]]] = Queue()
        self.switchboard = Switchboard("127.0.0.1", "127.0.0.1", b"key", lambda *call: self.lines.put(call))

    def line(self) -> tuple[Line, Mapping[str, Any]]:
        return self.lines.get(timeout=10)


@pytest.fixture
def driver() -> Iterator[Driver]:
    driver = Driver()
    yield driver
    driver.switchboard.close()


def _answer(request: Mapping[str, Any]) -> Any:
    if request["do"] == "fail":
        raise ConfigError({"connector.class": ["is missing"]}, "c")
    if request["do"] == "end":
        raise JavaEnded("Java was ended by SIGKILL")
    return request.get("number", 0) * 2


def _calling(driver: Driver, then: Callable[[bool], None] = lambda asked: None) -> Call:
    """An executor that answers in a thread; `then` gets whether it was asked to stop."""
    call = Call(driver.switchboard.address)
    call.say(host="executor")
    threading.Thread(target=lambda: then(call.requests(_answer, until={"stop"})), daemon=True).start()
    return call


def test_requests_are_answered_errors_are_raised_and_the_last_one_ends_it(driver: Driver) -> None:
    ended: Queue[bool] = Queue()
    call = _calling(driver, ended.put)
    line, first = driver.line()
    assert first == {"host": "executor"}
    assert call.own_address == "127.0.0.1"
    assert line.ask(do="double", number=21) == 42
    with pytest.raises(ConfigError) as caught:
        line.ask(do="fail")
    assert (caught.value.errors, caught.value.connector) == ({"connector.class": ["is missing"]}, "c")
    with pytest.raises(RetriableError, match="SIGKILL"):
        line.ask(do="end")
    line.ask(do="stop")
    assert ended.get(timeout=10)


def test_a_caller_without_the_key_is_not_answered(driver: Driver) -> None:
    with pytest.raises(RetriableError, match="cannot reach the driver"):
        Call(replace(driver.switchboard.address, key=b"another"))
    assert driver.lines.empty()
    _calling(driver)
    assert driver.line()[0].ask(do="double", number=1) == 2


def test_each_end_notices_at_once_that_the_other_one_is_gone(driver: Driver) -> None:
    ended, lost = Queue[bool](), threading.Event()
    call = _calling(driver, ended.put)
    call.when_lost(lost.set)
    line, _ = driver.line()
    line.close()
    assert not ended.get(timeout=10)
    assert lost.wait(10)

    call = Call(driver.switchboard.address)
    call.say(host="executor")
    line, _ = driver.line()
    call.close()
    began = time.monotonic()
    with pytest.raises(RetriableError, match="connection was lost"):
        line.ask(do="double")
    with pytest.raises(RetriableError, match="connection was lost"):
        line.ask(do="double")
    assert time.monotonic() - began < 10


def test_an_answer_that_does_not_come_in_time_ends_the_line(driver: Driver) -> None:
    call = Call(driver.switchboard.address)
    call.say(host="executor")
    line, _ = driver.line()
    for _attempt in range(2):
        with pytest.raises(RetriableError, match="no answer within 0 s"):
            line.ask(0.01, do="double")
    call.close()
