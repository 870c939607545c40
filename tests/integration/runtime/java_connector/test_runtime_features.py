"""What only Connect's own runtime has, in hosted runs: retries, pause and rewind of sinks, more tasks on request."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.kafka import produce, read_all, read_values

pytestmark = pytest.mark.usefixtures("one_jvm")

Config = Callable[..., dict[str, str]]
Run = Callable[..., Any]


@pytest.fixture
def source(bootstrap: str, topic: Callable[..., str]) -> str:
    """A topic with the records a, b and c."""
    name = topic()
    produce(bootstrap, name, ["a", "b", "c"])
    return name


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """What the sink has written."""
    return tmp_path / "out.txt"


def test_a_sink_that_rewinds_gets_the_records_again_before_the_run_is_over(
    source: str, rough_sink: Config, run_rough: Run, out: Path
) -> None:
    report = run_rough(rough_sink("rewinds", source))
    assert (report.complete, report.lag_max) == (True, 0)
    assert out.read_text().splitlines() == ["a", "b", "c", "# rewound", "a", "b", "c"]


@pytest.mark.exhaustive
def test_a_sink_that_is_unavailable_is_asked_again_after_the_time_that_it_wants(
    source: str, rough_sink: Config, run_rough: Run, out: Path
) -> None:
    report = run_rough(rough_sink("is unavailable twice", source))
    assert (report.complete, report.lag_max) == (True, 0)
    first, second, *records = out.read_text().splitlines()
    assert int(second.split()[-1]) - int(first.split()[-1]) >= 300
    assert records == ["a", "b", "c"]


@pytest.mark.exhaustive
def test_a_sink_that_stays_unavailable_ends_at_the_longest_duration_and_is_not_complete(
    source: str, rough_sink: Config, run_rough: Run
) -> None:
    report = run_rough(rough_sink("is always unavailable", source, kconnect_max_duration_ms="2000"))
    assert (report.complete, report.notes["ended"], report.lag_max) == (False, "duration", 3)


def test_a_sink_that_takes_long_to_write_is_waited_for(
    source: str, rough_sink: Config, run_rough: Run, out: Path
) -> None:
    report = run_rough(rough_sink("writes slowly", source, ms="5000", kconnect_hosted_idle_ms="300"))
    assert (report.complete, report.notes["ended"], report.records["written"]) == (True, "caught up", 3)
    assert out.read_text().splitlines() == ["a", "b", "c"]


@pytest.mark.exhaustive
def test_records_that_a_sink_still_writes_are_not_filtered(source: str, rough_sink: Config, run_rough: Run) -> None:
    config = rough_sink("writes slowly", source, ms="120000", kconnect_max_duration_ms="1000")
    report = run_rough(config)
    assert (report.records["read"], report.records["written"], report.records["filtered"]) == (3, 0, 0)
    assert report.incomplete == ["max_duration"]


def test_a_source_whose_first_answer_takes_long_is_waited_for(
    bootstrap: str, rough_source: Config, run_rough: Run
) -> None:
    config = rough_source("answers slowly", ms="5000", kconnect_hosted_idle_ms="300")
    report = run_rough(config)
    assert (report.complete, report.records["written"]) == (True, 30)


@pytest.mark.exhaustive
def test_a_run_waits_for_a_sink_that_has_paused_its_partitions(
    bootstrap: str, topic: Callable[..., str], rough_sink: Config, run_rough: Run, out: Path
) -> None:
    name = topic()
    produce(bootstrap, name, ["a", "b", "c"])
    # One record for each call: the others are still to come when it pauses.
    config = rough_sink("pauses", name) | {"consumer.override.max.poll.records": "1"}
    report = run_rough(config, **{"connector.client.config.override.policy": "All"})
    assert (report.complete, report.lag_max) == (True, 0)
    assert out.read_text().splitlines() == ["a", "# paused", "# resumed", "b", "c"]


@pytest.mark.exhaustive
def test_records_that_a_sink_reports_as_bad_are_dead_letters_with_its_reason(
    bootstrap: str, topic: Callable[..., str], rough_sink: Config, run_rough: Run, out: Path
) -> None:
    name = topic()
    produce(bootstrap, name, ["a", "bad one", "b"])
    letters = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": f"{name}-dlq",
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    report = run_rough(rough_sink("reports bad records", name) | letters)
    assert (report.complete, report.records["dead_lettered"], report.notes["record_failures"]) == (True, 1, 1)
    assert out.read_text().split() == ["a", "b"]
    [letter] = read_all(bootstrap, f"{name}-dlq")
    assert letter.value == b"bad one"
    assert b"no good: bad one" in (dict(letter.headers)["__connect.errors.exception.message"] or b"")


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", ["gets a second task", "gets its tasks late"])
def test_tasks_that_a_source_asks_for_later_move_their_records_in_the_same_run(
    bootstrap: str, rough_source: Config, run_rough: Run, mode: str
) -> None:
    config = rough_source(mode, tasks_max="2", kconnect_hosted_idle_ms="6000")
    report = run_rough(config)
    assert (report.complete, report.splits) == (True, 2)
    expected = [f"{task}-{n}".encode() for task in (0, 1) for n in range(30)]
    assert sorted(value or b"" for value in read_values(bootstrap, config["topic"])) == sorted(expected)


@pytest.mark.exhaustive
def test_a_source_without_tasks_is_complete_with_a_warning(rough_source: Config, run_rough: Run) -> None:
    report = run_rough(rough_source("has no tasks"))
    assert (report.records["written"], report.splits) == (0, 0)
    assert [text for text in report.warnings if "has no tasks" in text]
