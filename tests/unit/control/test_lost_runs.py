"""The status of a connector whose last run was killed."""

from __future__ import annotations

import pytest

from airflow_kconnect.control.lost_runs import as_ended
from airflow_kconnect.control.runs import Ending, NoRuns
from airflow_kconnect.stores.status_topic.records import State, Status
from airflow_kconnect.stores.status_topic.state import ConnectorStatus


class Ended(NoRuns):
    """Runs of which the latest ended at 2,000."""

    def __init__(self, *, retries: bool) -> None:
        self._retries = retries

    def ending(self, connector: str) -> Ending | None:
        """Of the connector `killed`."""
        return Ending("scheduled__1", 2_000, self._retries) if connector == "killed" else None


def status(state: State, changed_ms: int, *tasks: State) -> ConnectorStatus:
    """The status as it is in the topic."""
    of_tasks = {number: Status(each, "w", 0) for number, each in enumerate(tasks)}
    return ConnectorStatus(Status(state, "w", 0), of_tasks, changed_ms=changed_ms)


def states(found: ConnectorStatus) -> list[State]:
    """Of the connector and of its tasks."""
    assert found.status is not None
    return [found.status.state, *(task.state for task in found.tasks.values())]


@pytest.mark.parametrize(("retries", "state"), [(False, State.FAILED), (True, State.UNASSIGNED)])
def test_a_killed_run_is_not_running(retries: bool, state: State) -> None:
    found = as_ended("killed", status(State.RUNNING, 1_000, State.RUNNING), Ended(retries=retries))
    assert states(found) == [state, state]


def test_a_killed_run_has_a_trace_that_names_it() -> None:
    found = as_ended("killed", status(State.RUNNING, 1_000), Ended(retries=False))
    assert found.status is not None
    assert "scheduled__1" in (found.status.trace or "")


@pytest.mark.parametrize(
    ("name", "state", "changed_ms"),
    [
        pytest.param("killed", State.RUNNING, 3_000, id="written later"),
        pytest.param("killed", State.PAUSED, 1_000, id="paused meanwhile"),
        pytest.param("other", State.RUNNING, 1_000, id="its run is in progress or succeeded"),
    ],
)
def test_other_statuses_are_as_they_are_in_the_topic(name: str, state: State, changed_ms: int) -> None:
    known = status(state, changed_ms, state)
    assert as_ended(name, known, Ended(retries=False)) is known


def test_where_runs_are_not_remembered_the_topic_counts() -> None:
    known = status(State.RUNNING, 1_000)
    assert as_ended("killed", known, NoRuns()) is known
