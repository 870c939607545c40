"""A `poll` that fails for a temporary reason."""

from __future__ import annotations

import time

import pytest

from airflow_kconnect.connect.errors import DataError, NextRunError, RetriableError
from airflow_kconnect.runtime.retries import NO_RETRIES, Retries
from airflow_kconnect.runtime.source.retried_poll import RetriedPoll
from tests.support.connectors.scripted_task import ScriptedTask, records

UNAVAILABLE = RetriableError("source is unavailable")


@pytest.fixture
def task() -> ScriptedTask:
    """Of a class of its own: tasks that others have left to their threads write down calls, too."""
    own: type[ScriptedTask] = type("OwnTask", (ScriptedTask,), {"script": [], "calls": []})
    return own()


def polled(poll: RetriedPoll) -> list[int]:
    """Everything up to the end."""
    found = []
    while (some := poll()) is not None:
        found += [record.source_offset["n"] for record in some if record.source_offset]
    return found


def test_is_called_again(task: ScriptedTask) -> None:
    task.script.extend([records(1), UNAVAILABLE, UNAVAILABLE, records(2), UNAVAILABLE, records(3)])
    assert polled(RetriedPoll(task, Retries(60_000, 1), None)) == [1, 2, 3]


def test_ends_the_run_if_retries_are_not_configured(task: ScriptedTask) -> None:
    task.script.append(UNAVAILABLE)
    with pytest.raises(RetriableError, match="source is unavailable"):
        RetriedPoll(task, NO_RETRIES, None)()


def test_returns_meanwhile_so_that_records_are_passed_on(task: ScriptedTask) -> None:
    task.script.append(UNAVAILABLE)
    poll = RetriedPoll(task, Retries(-1), None)
    assert (poll(), poll(), task.calls) == ((), (), ["poll"])


def test_that_lasts_too_long_ends_the_run(task: ScriptedTask) -> None:
    task.script.extend([UNAVAILABLE] * 1000)
    with pytest.raises(RetriableError):
        polled(RetriedPoll(task, Retries(1_500, 5), None))
    assert len(task.calls) > 2


def test_ends_the_run_with_its_time(task: ScriptedTask) -> None:
    task.script.extend([UNAVAILABLE] * 1000)
    with pytest.raises(RetriableError):
        polled(RetriedPoll(task, Retries(-1, 5), time.monotonic() + 0.05))


def test_has_all_its_time_again_after_it_succeeded(task: ScriptedTask, monkeypatch: pytest.MonkeyPatch) -> None:
    poll, clock = RetriedPoll(task, Retries(60_000, 1), None), time.monotonic
    task.script.extend([UNAVAILABLE, records(1)])
    while not poll():
        pass
    monkeypatch.setattr(time, "monotonic", lambda: clock() + 3_600)
    task.script.extend([UNAVAILABLE, records(2)])
    assert polled(poll) == [2]


def test_another_error_is_not_tried_again(task: ScriptedTask) -> None:
    task.script.append(DataError("a bad row"))
    with pytest.raises(DataError):
        RetriedPoll(task, Retries(-1), None)()


def test_an_error_after_which_only_the_next_run_can_continue_is_not_tried_again(task: ScriptedTask) -> None:
    task.script.append(NextRunError("half of a page was passed on"))
    with pytest.raises(NextRunError):
        RetriedPoll(task, Retries(-1), None)()
