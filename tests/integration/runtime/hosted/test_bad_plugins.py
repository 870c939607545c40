"""Java connectors that hang, throw, end the JVM or flood the log: each is reported, and leaves no process."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from airflow_kconnect.connect.errors import RetriableError
from tests.integration.runtime.conftest import missing_and_doubled
from tests.support.jobs import command_of
from tests.support.kafka import read_values

Config = Callable[..., dict[str, str]]
Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def no_jvm_is_left() -> Iterator[None]:
    """After each run, its JVM has ended."""
    yield
    children = psutil.Process().children(recursive=True)
    assert [each for each in children if "py4j.GatewayServer" in command_of(each)] == []


def numbers(count: int) -> list[bytes]:
    """The values of the source's first task."""
    return [f"0-{n}".encode() for n in range(count)]


def is_exact(bootstrap: str, config: dict[str, str], count: int) -> bool:
    """Whether the source's topic has each of its records once."""
    return missing_and_doubled(numbers(count), read_values(bootstrap, config["topic"])) == (set(), [])


@pytest.mark.exhaustive
def test_a_task_that_calls_system_exit_is_retriable_and_what_it_left_is_moved_next(
    bootstrap: str, rough_source: Config, run_rough: Run
) -> None:
    config = rough_source("exits")
    with pytest.raises(RetriableError, match=r"Java ended with exit code 7: a plug-in has called System\.exit"):
        run_rough(config)
    assert run_rough({**config, "mode": ""}).complete
    assert is_exact(bootstrap, config, 30)


def test_a_task_that_throws_is_an_error_with_its_text_and_what_it_delivered_is_committed(
    bootstrap: str, rough_source: Config, run_rough: Run
) -> None:
    config = rough_source("throws")
    with pytest.raises(RetriableError, match=r"task 0 failed: .*IllegalStateException: nothing is left of t-rough"):
        run_rough(config)
    assert read_values(bootstrap, config["topic"]) == numbers(30)


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", ["hangs in stop", "hangs in poll"])
def test_a_source_that_does_not_stop_is_ended_and_its_records_are_exact(
    bootstrap: str, rough_source: Config, run_rough: Run, mode: str
) -> None:
    config = rough_source(mode)
    began = time.monotonic()
    report = run_rough(config)
    assert report.complete
    assert time.monotonic() - began < 120
    run_rough({**config, "mode": ""})
    assert is_exact(bootstrap, config, 30)


@pytest.mark.exhaustive
def test_a_source_that_floods_the_log_does_not_stop_and_our_log_stays_short(
    bootstrap: str, rough_source: Config, run_rough: Run, caplog: pytest.LogCaptureFixture
) -> None:
    config = rough_source("floods the log", count=300)
    with caplog.at_level(logging.INFO, logger="kconnect.hosted"):
        report = run_rough(config)
    assert (report.complete, report.records["written"]) == (True, 300)
    assert is_exact(bootstrap, config, 300)
    assert len(caplog.records) < 1000
    assert "more lines were printed by the connector" in caplog.text
