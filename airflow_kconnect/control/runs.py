"""What starts, ends and remembers runs of connectors: Airflow's scheduler, or nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable


class Runs(Protocol):
    """What starts and ends runs of connectors."""

    def start(self, connector: str) -> None:
        """Start a run now, beyond the schedule."""

    def end(self, connector: str) -> None:
        """End the run in progress, if there is one."""


class NoRuns:
    """Nothing starts runs: they are started elsewhere, and look at the target state."""

    def start(self, connector: str) -> None:
        """Nothing to do: the next run comes by its schedule."""

    def end(self, connector: str) -> None:
        """Nothing to do: the run in progress finishes."""


class DagTask(NamedTuple):
    """A task of a DAG."""

    dag: str
    task: str


@runtime_checkable
class RemembersRuns(Protocol):
    """An addition to `Runs`: the runs of tasks so far."""

    def history(self, tasks: Collection[DagTask]) -> list[dict[str, Any]]:
        """The latest runs of these tasks, at most some dozens of them, with the members of a run record.

        Their `origin` names DAG, task and run. Besides the states of a run record there are `queued` and `skipped`.
        """


@runtime_checkable
class ReplaysRuns(Protocol):
    """An addition to `Runs`: runs with parameters of their own."""

    def replay(self, connector: str, params: Mapping[str, Any]) -> str:
        """Start a run with these parameters of `operators.intervals.run_params`; returns its id.

        :raises RetriableError: it cannot be started yet. :raises ConfigError: the parameters are not accepted.
        """


@dataclass(frozen=True)
class Ending:
    """How the latest run of a connector ended without success.

    :param end_ms: when, in epoch ms. :param retries: it will be tried again.
    """

    run_id: str
    end_ms: int
    retries: bool


@runtime_checkable
class EndsRuns(Protocol):
    """An addition to `Runs`: how runs ended, also those that could not say so themselves."""

    def ending(self, connector: str) -> Ending | None:
        """Of the latest run that moves the live offsets; None if it is in progress, or succeeded, or is not known."""


@dataclass(frozen=True)
class Dag:
    """A DAG that the scheduler has.

    :param next_run_ms: when its next run is due; None if none is. :param schedule: for people.
    :param team: None if it belongs to none.
    """

    next_run_ms: int | None = None
    schedule: str | None = None
    team: str | None = None


class TaskRun(NamedTuple):
    """A task of a run of a DAG.

    :param map_index: -1 if it is not mapped.
    """

    dag: str
    task: str
    run: str
    map_index: int = -1


@dataclass(frozen=True)
class TaskState:
    """What became of a `TaskRun`.

    :param end_ms: when it ended; None if it is in progress, or if that is not known.
    """

    in_progress: bool
    succeeded: bool = False
    end_ms: int | None = None


@runtime_checkable
class SchedulesRuns(Protocol):
    """An addition to `Runs`: DAGs and tasks, for all connectors in one question. Answers are kept for a few seconds."""

    def dags(self, ids: Collection[str]) -> Mapping[str, Dag]:
        """Those of these DAGs that the scheduler has."""

    def task_states(self, tasks: Collection[TaskRun]) -> Mapping[TaskRun, TaskState]:
        """Of those of these tasks that are known."""

    def url(self, dag: str, task: str | None = None) -> str:
        """The page of a DAG, or of a task of it: a path on the same server."""

    def log_url(self, run: TaskRun, attempt: int) -> str:
        """The page with the log of an attempt; of the last one for 0."""


@runtime_checkable
class ForgetsRuns(Protocol):
    """An addition to `Runs`: what is to happen when a connector is deleted."""

    def forget(self, connector: str) -> None:
        """Start no more runs, at once; those of the past stay."""
