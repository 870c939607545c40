"""Runs that were killed with their worker: they could not write how they ended, so their last status is RUNNING."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import cast

from airflow_kconnect.control.runs import Ending, EndsRuns, Runs
from airflow_kconnect.stores.status_topic.records import State, Status
from airflow_kconnect.stores.status_topic.state import ConnectorStatus


def as_ended(name: str, status: ConnectorStatus, runs: Runs) -> ConnectorStatus:
    """The status of a connector, corrected by what is known about its latest run.

    If that has failed and the status is older and RUNNING, the run was killed: it is FAILED; or UNASSIGNED, as tasks of
    a worker that has left are in Connect, if the run will be tried again. A status that was written later counts.
    """
    known = status.status
    if known is None or known.state is not State.RUNNING or not _knows_endings(type(runs)):
        return status
    ending = cast(EndsRuns, runs).ending(name)
    if ending is None or status.changed_ms is None or ending.end_ms <= status.changed_ms:
        return status
    tasks = {task: _ended(of, ending) for task, of in status.tasks.items()}
    return replace(status, status=_ended(known, ending), tasks=tasks)


@cache
def _knows_endings(kind: type) -> bool:
    """Found out once: a list asks for a thousand connectors, and looking at a protocol takes longer than the rest."""
    return issubclass(kind, EndsRuns)


def _ended(status: Status, ending: Ending) -> Status:
    if status.state is not State.RUNNING:
        return status
    if ending.retries:
        return replace(status, state=State.UNASSIGNED)
    text = f"Run {ending.run_id} ended before it could say why, as when its worker is killed; see its log in Airflow."
    return replace(status, state=State.FAILED, trace=text)
