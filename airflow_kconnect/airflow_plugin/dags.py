"""What Airflow's scheduler knows about the DAGs and tasks of all connectors, asked in one query each. Thread-safe."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlsplit

from airflow.configuration import conf
from airflow.models.dag import DagModel
from airflow.models.taskinstance import TaskInstance
from airflow.utils.session import create_session
from airflow.utils.state import TaskInstanceState
from sqlalchemy import select, tuple_
from sqlalchemy.exc import SQLAlchemyError

from airflow_kconnect.airflow_plugin.stored import epoch_ms
from airflow_kconnect.control.runs import Dag, TaskRun, TaskState

log = logging.getLogger(__name__)

K = TypeVar("K")
V = TypeVar("V")

_FRESH_S = 3.0
# Databases accept some ten thousand parameters.
_AT_ONCE = 2_000
_ENDED = {
    TaskInstanceState.SUCCESS.value,
    TaskInstanceState.FAILED.value,
    TaskInstanceState.UPSTREAM_FAILED.value,
    TaskInstanceState.SKIPPED.value,
    TaskInstanceState.REMOVED.value,
    # Between two attempts.
    TaskInstanceState.UP_FOR_RETRY.value,
}


class Answers(Generic[K, V]):
    """Answers of the database that are kept for a few seconds, for all who ask.

    :param ask: for those of the keys that the database knows. :param what: for the log.
    """

    def __init__(self, ask: Callable[[Collection[K]], Mapping[K, V]], what: str) -> None:
        self._ask, self._what = ask, what
        self._lock = threading.Lock()
        self._until = 0.0
        self._asked: frozenset[K] = frozenset()
        self._known: Mapping[K, V] = {}

    def of(self, keys: Collection[K]) -> Mapping[K, V]:
        """The answers, also to what others have asked; those of before if the database does not answer."""
        wanted = frozenset(keys)
        with self._lock:
            fresh = time.monotonic() < self._until
            if wanted and not (fresh and wanted <= self._asked):
                self._look(wanted | self._asked if fresh else wanted)
            return self._known

    def _look(self, keys: frozenset[K]) -> None:
        try:
            self._known, self._asked = self._ask(keys), keys
        except SQLAlchemyError as error:
            # An overview must not fail because of it.
            log.warning("%s are not known: %s", self._what, type(error).__name__)
        self._until = time.monotonic() + _FRESH_S


class ScheduledRuns:
    """See `SchedulesRuns`."""

    def __init__(self) -> None:
        self._dags = Answers(_dags, "the DAGs of connectors")
        self._tasks = Answers(_tasks, "the tasks of connectors")

    def dags(self, ids: Collection[str]) -> Mapping[str, Dag]:
        """See `SchedulesRuns`."""
        return self._dags.of(ids)

    def task_states(self, tasks: Collection[TaskRun]) -> Mapping[TaskRun, TaskState]:
        """See `SchedulesRuns`."""
        return self._tasks.of(tasks)

    @staticmethod
    def url(dag: str, task: str | None = None) -> str:
        """See `SchedulesRuns`."""
        return page_of(dag, None, task)

    @staticmethod
    def log_url(run: TaskRun, attempt: int) -> str:
        """See `SchedulesRuns`; as `TaskInstance.log_url`."""
        mapped = f"/mapped/{run.map_index}" if run.map_index >= 0 else ""
        return page_of(run.dag, run.run, run.task) + mapped + (f"?try_number={attempt}" if attempt > 0 else "")


def page_of(dag: str, run: str | None, task: str | None) -> str:
    """A page of Airflow's UI: only its path, since users reach it by whatever name they have reached us."""
    path = f"{urlsplit(conf.get('api', 'base_url', fallback='')).path.rstrip('/')}/dags/{quote(dag)}"
    path += "" if run is None else f"/runs/{quote(run)}"
    return path if task is None else f"{path}/tasks/{quote(task)}"


def _dags(ids: Collection[str]) -> Mapping[str, Dag]:
    found: dict[str, Dag] = {}
    with create_session() as session:
        for some in _parts(ids):
            query = _of_dags().where(DagModel.dag_id.in_(some), DagModel.is_stale.is_(False))
            found.update((row.dag_id, _dag(row)) for row in session.execute(query))
    return found


def _of_dags() -> Any:
    columns = (DagModel.dag_id, DagModel.is_paused, DagModel.timetable_summary, DagModel.next_dagrun_create_after)
    if not conf.getboolean("core", "multi_team", fallback=False):
        return select(*columns)
    from airflow.models.dagbundle import DagBundleModel
    from airflow.models.team import Team

    return (
        select(*columns, Team.name.label("team"))
        .select_from(DagModel)
        .outerjoin(DagBundleModel, DagModel.bundle_name == DagBundleModel.name)
        .outerjoin(DagBundleModel.teams)
    )


def _dag(row: Any) -> Dag:
    if row.is_paused:
        return Dag(None, "paused in Airflow", getattr(row, "team", None))
    summary = row.timetable_summary
    # Airflow's text for a DAG that is only triggered.
    schedule = "only when triggered" if summary in (None, "None") else summary
    return Dag(epoch_ms(row.next_dagrun_create_after), schedule, getattr(row, "team", None))


def _tasks(tasks: Collection[TaskRun]) -> Mapping[TaskRun, TaskState]:
    key = (TaskInstance.dag_id, TaskInstance.task_id, TaskInstance.run_id, TaskInstance.map_index)
    found: dict[TaskRun, TaskState] = {}
    with create_session() as session:
        for some in _parts(tasks):
            query = select(*key, TaskInstance.state, TaskInstance.end_date).where(tuple_(*key).in_(some))
            for dag, task, run, map_index, state, end in session.execute(query):
                found[TaskRun(dag, task, run, map_index)] = _task_state(state, end)
    return found


def _task_state(state: Any, end: Any) -> TaskState:
    # One that was cleared, waits for a slot or for a sensor will be in progress.
    if state is None or state not in _ENDED:
        return TaskState(in_progress=True)
    return TaskState(in_progress=False, succeeded=state == TaskInstanceState.SUCCESS.value, end_ms=epoch_ms(end))


def _parts(keys: Collection[K]) -> list[list[K]]:
    every = sorted(keys)  # type: ignore[type-var]
    return [every[at : at + _AT_ONCE] for at in range(0, len(every), _AT_ONCE)]
