"""Java connectors that hang, end the JVM, leak threads or flood the log: each is told, and leaves no process."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from airflow_kconnect.connect.errors import RetriableError
from tests.integration.runtime.conftest import missing_and_doubled
from tests.support.kafka import produce, read_values
from tests.support.spark.jobs import command_of

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
    with pytest.raises(
        RetriableError,
        match=rf"connector {config['name']}: .*Java ended with exit code 7: a plug-in has called System\.exit",
    ):
        run_rough(config)
    assert run_rough({**config, "mode": ""}).complete
    assert is_exact(bootstrap, config, 30)


@pytest.mark.exhaustive  # in a JVM that several share: `test_shared_jvms.py`
def test_a_task_that_throws_is_an_error_with_its_text_and_what_it_delivered_is_committed(
    bootstrap: str, rough_source: Config, run_rough: Run
) -> None:
    config = rough_source("throws")
    with pytest.raises(RetriableError, match=r"task 0 failed: .*IllegalStateException: nothing is left of t-rough"):
        run_rough(config)
    assert read_values(bootstrap, config["topic"]) == numbers(30)


@pytest.mark.exhaustive
def test_a_task_whose_stack_overflows_is_an_error(rough_source: Config, run_rough: Run) -> None:
    with pytest.raises(RetriableError, match=r"task 0 failed: .*StackOverflowError"):
        run_rough(rough_source("recurses"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", ["hangs in stop", "connector hangs in stop", "hangs in poll"])
def test_a_source_that_does_not_stop_is_ended_and_its_records_are_exact(
    bootstrap: str, rough_source: Config, run_rough: Run, mode: str
) -> None:
    config = rough_source(mode)
    report = run_rough(config)
    assert (report.complete, report.incomplete) == (False, ["hung"])
    assert any("the plug-in does not return from one of its methods" in warning for warning in report.warnings)
    assert report.durations_s["stopping"] < 60
    run_rough({**config, "mode": ""})
    assert is_exact(bootstrap, config, 30)


@pytest.mark.exhaustive
def test_a_source_that_hangs_before_its_first_record_is_retriable(rough_source: Config, run_rough: Run) -> None:
    config = rough_source("hangs in poll", count=0)
    with pytest.raises(RetriableError, match=rf"connector {config['name']}: .*does not return from one of its methods"):
        run_rough(config)


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", ["throws in stop", "connector throws in stop"])
def test_a_source_that_throws_when_it_stops_has_committed(
    bootstrap: str, rough_source: Config, run_rough: Run, mode: str
) -> None:
    config = rough_source(mode)
    assert run_rough(config).complete
    assert is_exact(bootstrap, config, 30)


@pytest.mark.exhaustive
def test_a_source_that_calls_system_exit_when_it_stops_is_retriable(
    bootstrap: str, rough_source: Config, run_rough: Run
) -> None:
    config = rough_source("exits in stop")
    with pytest.raises(RetriableError, match=rf"connector {config['name']}: .*ended with exit code 7"):
        run_rough(config)
    assert run_rough({**config, "mode": ""}).complete
    assert is_exact(bootstrap, config, 30)


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", ["hangs in start", "task hangs in start"])
def test_a_start_that_does_not_return_is_an_error_after_the_time_that_was_given(
    rough_source: Config, run_rough: Run, mode: str
) -> None:
    config = rough_source(mode, kconnect_hosted_start_timeout_ms="3000")
    text = r"did not start within 3 s \(`kconnect\.hosted\.start\.timeout\.ms`\)"
    with pytest.raises(RetriableError, match=f"connector {config['name']}: it or its tasks {text}"):
        run_rough(config)


@pytest.mark.exhaustive
def test_threads_that_a_source_leaves_behind_end_with_the_run(
    bootstrap: str, rough_source: Config, run_rough: Run
) -> None:
    config = rough_source("leaks threads")
    report = run_rough(config)
    assert (report.complete, report.warnings) == (True, [])
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


@pytest.mark.exhaustive
def test_a_sink_that_calls_system_exit_gets_its_records_again(
    bootstrap: str, topic: Callable[..., str], rough_sink: Config, run_rough: Run, tmp_path: Path
) -> None:
    source = topic()
    produce(bootstrap, source, ["a", "b"])
    config = rough_sink("exits", source)
    with pytest.raises(RetriableError, match=rf"connector {config['name']}: .*ended with exit code 7"):
        run_rough(config)
    # It waits until the group has forgotten the consumer that has ended without a word.
    assert run_rough({**config, "mode": ""}).complete
    assert (tmp_path / "out.txt").read_text().split() == ["a", "b", "a", "b"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", ["hangs in stop", "leaks threads"])
def test_a_sink_that_does_not_end_by_itself_has_committed(
    bootstrap: str, topic: Callable[..., str], rough_sink: Config, run_rough: Run, tmp_path: Path, mode: str
) -> None:
    source = topic()
    produce(bootstrap, source, ["a", "b"])
    report = run_rough(rough_sink(mode, source))
    assert (report.complete, report.lag_max) == (True, 0)
    assert (tmp_path / "out.txt").read_text().split() == ["a", "b"]


@pytest.mark.exhaustive
def test_a_sink_that_hangs_while_it_writes_is_retriable_and_gets_its_records_again(
    bootstrap: str, topic: Callable[..., str], rough_sink: Config, run_rough: Run, tmp_path: Path
) -> None:
    source = topic()
    produce(bootstrap, source, ["a", "b"])
    keys = {"kconnect.hosted.idle.ms": "500", "consumer.override.max.poll.interval.ms": "5000"}
    config = rough_sink("hangs in put", source, **keys)
    with pytest.raises(RetriableError, match=rf"connector {config['name']}: .*does not return from one of its methods"):
        run_rough(config, **{"connector.client.config.override.policy": "All"})
    del config["consumer.override.max.poll.interval.ms"]
    assert run_rough({**config, "mode": ""}).complete
    assert set((tmp_path / "out.txt").read_text().split()) == {"a", "b"}
