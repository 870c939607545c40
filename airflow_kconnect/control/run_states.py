"""What runs say about a connector, as people ask a batch tool: does it run, has it failed, is it fresh? No I/O.

Connect's state `RUNNING` also stands for a connector whose last run was an hour ago.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from airflow_kconnect.control.runs import DagTask, TaskRun, TaskState
from airflow_kconnect.runs.end import why_incomplete
from airflow_kconnect.runs.warnings import Kind
from airflow_kconnect.stores.status_topic.records import State, Status
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunRecord
from airflow_kconnect.stores.status_topic.run_records import RunState as Outcome
from airflow_kconnect.stores.target_states import TargetState

SILENT_MS = 15 * 60 * 1000
"""A run that has said nothing for as long has ended, unless a scheduler knows better: runs tell their progress four
times a minute while records move, and are silent while Spark starts or a database answers its first query."""

_LOST = "it ended before it could say how, as when its worker is killed"
_TAKEN_OVER = "a newer run has taken over"


class RunState(StrEnum):
    """What a connector does, or why it does nothing."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    FAILED = "failed"
    NO_DAG = "no_dag"
    NEVER_RUN = "never_run"
    IDLE = "idle"


_TARGETS = {TargetState.PAUSED: RunState.PAUSED, TargetState.STOPPED: RunState.STOPPED}


def run_state(
    target: TargetState,
    newest: RunRecord | None,
    *,
    failed: bool,
    no_dag: bool,
    never_run: bool,
    in_connect: bool = False,
) -> RunState:
    """The state of a connector: the first that applies.

    :param newest: the newest run that moves the live offsets; None if none is known.
    :param failed: its status says so. :param no_dag: nothing would start a run. :param never_run: nothing has run yet.
    :param in_connect: a Connect cluster with the same status topic runs it, see `runs_in_connect`.
    """
    if (newest is not None and newest.running) or (in_connect and not failed):
        return RunState.RUNNING
    if target in _TARGETS:
        return _TARGETS[target]
    if failed or (newest is not None and newest.state is Outcome.FAILED):
        return RunState.FAILED
    if no_dag:
        return RunState.NO_DAG
    return RunState.NEVER_RUN if never_run else RunState.IDLE


def runs_in_connect(status: Status | None) -> bool:
    """Whether a worker of Connect was the last to say that it runs a connector; its port is not one of ours."""
    port = "" if status is None else status.worker_id.rpartition(":")[2]
    return status is not None and status.state is State.RUNNING and port.isdecimal() and int(port) > 0


def attention(newest: RunRecord | None) -> str | None:
    """Why a connector that is idle is not simply fine; None if it is."""
    if newest is None or newest.state is not Outcome.SUCCESS:
        return None
    letters = _dead_letters(newest.records)
    told = letters is not None and Kind.DEAD_LETTERS in newest.warning_kinds
    warnings = len(newest.warnings) - (1 if told else 0)
    reasons = (
        letters,
        f"{warnings} {'warning' if warnings == 1 else 'warnings'}" if warnings > 0 else None,
        None if newest.complete else _left(newest),
    )
    return "; ".join(filter(None, reasons)) or None


def _left(run: RunRecord) -> str:
    if not run.records:  # its scheduler says that it has ended well; it could not write what it has moved
        return "what the last run has moved is not known: see its log"
    text, reasons = "the last run has not moved everything", "; ".join(why_incomplete(run.incomplete))
    return f"{text}: {reasons}" if reasons else text


def _dead_letters(records: Mapping[str, int]) -> str | None:
    lost, read = records.get("dead_lettered", 0), records.get("read", 0)
    if not lost:
        return None
    if lost < read:
        return f"{lost:,} of {read:,} records of the last run became dead letters"
    all_of_them = "the only record" if lost == 1 else f"all {lost:,} records"
    return f"{all_of_them} of the last run became {'a dead letter' if lost == 1 else 'dead letters'}"


def fresh_ms(live: Sequence[RunRecord]) -> int | None:
    """When the last run began after which everything up to then was moved; None if no such run is known."""
    return next((run.start_ms for run in live if run.fresh), None)


def task_of(run: RunRecord) -> TaskRun | None:
    """The task of Airflow that a run was; None if it was started in another way."""
    origin = run.origin
    dag, task, dag_run, map_index = origin.get("dag"), origin.get("task"), origin.get("run"), origin.get("map_index")
    if not (isinstance(dag, str) and isinstance(task, str) and isinstance(dag_run, str)):
        return None
    return TaskRun(dag, task, dag_run, map_index if isinstance(map_index, int) else -1)


def origin_of(runs: ConnectorRuns) -> DagTask | None:
    """The task that has run a connector last, apart from runs that were started by hand."""
    task = next(filter(None, map(task_of, runs.runs)), None)
    return None if task is None else DagTask(task.dag, task.task)


def as_ended(runs: Sequence[RunRecord], tasks: Mapping[TaskRun, TaskState], now_ms: int) -> list[RunRecord]:
    """The runs, without those that say that they run and whose job is gone.

    :param runs: the newest first. :param tasks: what a scheduler knows about tasks; it knows better than a run.
    """
    found = []
    newer_live = False
    for run in runs:
        found.append(_ended(run, tasks, now_ms, taken_over=newer_live) if run.running else run)
        newer_live |= run.replay is None
    return found


def _ended(run: RunRecord, tasks: Mapping[TaskRun, TaskState], now_ms: int, *, taken_over: bool) -> RunRecord:
    task = task_of(run)
    state = None if task is None else tasks.get(task)
    seen_ms = run.progress.at_ms if run.progress else run.start_ms
    if run.replay is None and taken_over:
        # It is fenced: it commits nothing more, whatever its job still does.
        return _failed(run, seen_ms, _TAKEN_OVER)
    if state is not None and state.in_progress:
        return run
    if state is not None and state.succeeded:
        return replace(run, state=Outcome.SUCCESS, end_ms=state.end_ms or seen_ms, progress=None)
    if state is not None:
        return _failed(run, state.end_ms or seen_ms, f"{_LOST}; see its log")
    return run if now_ms - seen_ms < SILENT_MS else _failed(run, seen_ms, _LOST)


def _failed(run: RunRecord, end_ms: int, why: str) -> RunRecord:
    return replace(run, state=Outcome.FAILED, end_ms=end_ms, error=why, progress=None)
