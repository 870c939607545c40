"""What runs say about a connector: its state, what needs attention, how fresh it is, which runs have ended unseen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from airflow_kconnect.control.run_states import SILENT_MS, as_ended, attention, fresh_ms, run_state, task_of
from airflow_kconnect.control.runs import TaskRun, TaskState
from airflow_kconnect.stores.status_topic.run_records import Progress, RunRecord, RunState
from airflow_kconnect.stores.target_states import TargetState

NOW_MS = 10 * SILENT_MS
OF_TASK: dict[str, str | int] = {"dag": "shop", "task": "read", "run": "scheduled__1", "map_index": -1, "try": 1}
TASK = TaskRun("shop", "read", "scheduled__1")
SUCCESS = RunRecord("b", RunState.SUCCESS, 1_000, 2_000, {"read": 9, "written": 9}, complete=True)
RUNNING = RunRecord("c", RunState.RUNNING, NOW_MS - 1_000, origin=OF_TASK)
FAILED = RunRecord("a", RunState.FAILED, 500, 900, error="no disk")


@pytest.mark.parametrize(
    ("state", "newest", "more"),
    [
        ("running", RUNNING, {"target": TargetState.STOPPED, "failed": True, "no_dag": True}),
        ("paused", FAILED, {"target": TargetState.PAUSED, "failed": True}),
        ("stopped", SUCCESS, {"target": TargetState.STOPPED, "no_dag": True}),
        ("failed", FAILED, {"no_dag": True}),
        ("failed", SUCCESS, {"failed": True}),
        ("failed", None, {"failed": True, "never_run": True}),
        ("no_dag", SUCCESS, {"no_dag": True}),
        ("no_dag", None, {"no_dag": True, "never_run": True}),
        ("never_run", None, {"never_run": True}),
        ("idle", SUCCESS, {}),
        ("idle", None, {}),
    ],
)
def test_the_state_of_a_connector(state: str, newest: RunRecord | None, more: dict[str, Any]) -> None:
    facts: dict[str, Any] = {"target": TargetState.STARTED, "failed": False, "no_dag": False, "never_run": False}
    assert run_state(newest=newest, **(facts | more)).value == state


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        (None, {}),
        ("all 9 records of the last run became dead letters", {"records": {"read": 9, "dead_lettered": 9}}),
        ("2 of 9 records of the last run became dead letters", {"records": {"read": 9, "dead_lettered": 2}}),
        ("the only record of the last run became a dead letter", {"records": {"read": 1, "dead_lettered": 1}}),
        ("1 warning", {"warnings": ("a",)}),
        ("3 warnings", {"warnings": ("a", "b", "c")}),
        ("the last run has not moved everything", {"complete": False}),
        (
            "the last run has not moved everything: files or tables were replaced or removed while they were read",
            {"complete": False, "incomplete": ("given_up",)},
        ),
        (
            "2 of 9 records of the last run became dead letters; 1 warning",
            {
                "records": {"read": 9, "dead_lettered": 2},
                "warnings": ("2 records could not be moved", "a"),
                "warning_kinds": ("dead_letters", "lost"),
            },
        ),
        (None, {"state": RunState.RUNNING, "complete": False}),
        ("what the last run has moved is not known: see its log", {"records": {}, "complete": False}),
    ],
)
def test_what_needs_attention(text: str | None, changed: dict[str, Any]) -> None:
    assert attention(replace(SUCCESS, **changed)) == text


@pytest.mark.parametrize(
    ("fresh", "runs"),
    [
        (1_000, [RUNNING, SUCCESS, FAILED]),
        (1_000, [replace(SUCCESS, start_ms=5_000, complete=False), SUCCESS]),
        (None, [RUNNING, FAILED]),
        (None, []),
    ],
)
def test_fresh_since_the_last_run_that_moved_everything_began(fresh: int | None, runs: list[RunRecord]) -> None:
    assert fresh_ms(runs) == fresh


@pytest.mark.parametrize(
    ("task", "run"),
    [
        (TASK, RUNNING),
        (TASK._replace(map_index=3), replace(RUNNING, origin={**OF_TASK, "map_index": 3})),
        (None, replace(RUNNING, origin={"file": "/c/orders.json", "host": "vm"})),
        (None, SUCCESS),
    ],
)
def test_the_task_that_a_run_was(task: TaskRun | None, run: RunRecord) -> None:
    assert task_of(run) == task


def ended(run: RunRecord, task: TaskState | None = None) -> tuple[str, int | None]:
    """State and end of a run, with what a scheduler knows about its task."""
    (found,) = as_ended([run], {} if task is None else {TASK: task}, NOW_MS)
    return found.state.value, found.end_ms


class TestRunsThatSayThatTheyRun:
    def test_one_whose_task_is_in_progress_runs_however_silent_it_is(self) -> None:
        silent = replace(RUNNING, start_ms=0)
        assert ended(silent, task=TaskState(in_progress=True)) == ("running", None)

    @pytest.mark.parametrize(("succeeded", "state"), [(True, "success"), (False, "failed")])
    def test_one_whose_task_has_ended_has_ended_with_it(self, *, succeeded: bool, state: str) -> None:
        task = TaskState(in_progress=False, succeeded=succeeded, end_ms=77)
        assert ended(RUNNING, task=task) == (state, 77)

    def test_without_a_scheduler_one_that_has_been_silent_for_long_has_failed_when_it_was_last_seen(self) -> None:
        seen_ms = NOW_MS - SILENT_MS
        silent = replace(RUNNING, start_ms=0, progress=Progress(5, None, 1.0, seen_ms))
        assert ended(silent) == ("failed", seen_ms)
        assert ended(replace(silent, progress=Progress(5, None, 1.0, seen_ms + 1))) == ("running", None)

    def test_one_that_a_newer_run_has_replaced_has_failed(self) -> None:
        newer, older = as_ended([replace(SUCCESS, start_ms=NOW_MS), RUNNING], {}, NOW_MS)
        assert (newer.state.value, older.state.value, older.error) == (
            "success",
            "failed",
            "a newer run has taken over",
        )

    def test_a_replay_replaces_no_live_run_and_is_replaced_by_none(self) -> None:
        replay = replace(RUNNING, replay="2026-01-01/2026-01-02")
        assert [run.state.value for run in as_ended([replay, RUNNING, replay], {}, NOW_MS)] == ["running"] * 3
