"""What the Connectors page and `kconnect list` ask for: all connectors in short, one in full, lags, dead letters.

A server follows the topics, and answers from memory:

    watch_of(plane).look()

A command reads them when it asks:

    plane = ControlPlane(props, ControlStores(props, follow=False))
    watch = Watch(plane, follow=False)
    rows = watch.rows()            # later again: watch.refresh(), then watch.rows()
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

from airflow_kconnect.control.errors import NotFoundError
from airflow_kconnect.control.kinds import UNKNOWN, kind
from airflow_kconnect.control.overview.dead_letters import DeadLetters
from airflow_kconnect.control.overview.known import Known, group_of
from airflow_kconnect.control.overview.lags import Lags, LagsFound
from airflow_kconnect.control.overview.offsets import CommittedOffsets
from airflow_kconnect.control.overview.rows import Scheduled, detail, row
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.control.run_states import task_of
from airflow_kconnect.control.runs import DagTask, RemembersRuns, SchedulesRuns
from airflow_kconnect.control.shown import shown
from airflow_kconnect.stores.config_topic.state import ConnectorState
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns
from airflow_kconnect.stores.status_topic.state import ConnectorStatus
from airflow_kconnect.stores.target_states import TargetState
from airflow_kconnect.submit.dag_ids import TASK_ID


@dataclass(frozen=True)
class Seen:
    """All connectors at one moment, by name: those that are registered or have run."""

    connectors: Mapping[str, Known]
    scheduled: Scheduled
    now_ms: int

    def rows(self, names: Iterable[str]) -> list[dict[str, Any]]:
        """The connectors of these names in short."""
        return [row(self.connectors[name], self.scheduled, self.now_ms) for name in names]


class Watch:
    """Looks at the connectors of a control plane. Thread-safe.

    :param follow: as the stores of the control plane do.
    """

    def __init__(self, plane: ControlPlane, *, follow: bool = True) -> None:
        self._plane, self._follow = plane, follow

    def start(self) -> None:
        """Begin to read what an overview needs, while others wait for the connectors."""
        self._offsets.start()

    def refresh(self) -> None:
        """Read what is new, if the topics are not followed. :raises RetriableError: the broker is unavailable."""
        self._plane.read_to_end()
        self._offsets.refresh()

    def look(self) -> Seen:
        """All connectors; makes no request once the topics have been read, apart from one to the scheduler."""
        registered, statuses = self._plane.registered(), self._plane.known_statuses()
        runs, targets = self._plane.all_known_runs(), self._plane.target_states()
        with_status = (name for name, status in statuses.items() if status.status or status.tasks)
        names = sorted({*registered, *with_status, *runs, *self._with_offsets()} - set(self._plane.unreadable()))
        found = {
            name: self._known(
                name,
                registered.get(name),
                statuses.get(name, ConnectorStatus()),
                runs.get(name),
                targets.get(name, TargetState.STARTED),
            )
            for name in names
        }
        return Seen(found, self._scheduled(found.values()), _now_ms())

    def rows(self) -> list[dict[str, Any]]:
        """All connectors in short, by name."""
        seen = self.look()
        return seen.rows(seen.connectors)

    def known(self, name: str) -> Known:
        """One connector, registered or not.

        :raises NotFoundError: there is none of this name. :raises DataError: its configuration cannot be read.
        """
        found = self._known(
            name,
            self._plane.registered_or_none(name),
            self._plane.known_status(name),
            self._plane.known_runs(name),
            self._plane.target_states().get(name, TargetState.STARTED),
        )
        has_status = found.status.status or found.status.tasks
        if not (found.registered or has_status or found.runs.runs or name in self._with_offsets()):
            raise NotFoundError(f"Connector {name} not found")
        return found

    def unregistered(self, name: str) -> Known | None:
        """A connector that is not registered; None if it is, or if there is none."""
        if name in self._plane.registered() or name in self._plane.unreadable():
            return None
        try:
            return self.known(name)
        except NotFoundError:
            return None

    def check_registered(self, name: str) -> None:
        """:raises NotFoundError: it is not registered; the text says whether it has run."""
        if name not in self._plane.registered():
            self.known(name)
            raise NotFoundError(not_registered(name))

    def detail(self, name: str) -> dict[str, Any]:
        """One connector in full, secrets hidden. :raises NotFoundError: there is no such connector."""
        known = self.known(name)
        return detail(known, self._scheduled([known]), _now_ms(), shown(known.props), self._remembered(known))

    def lags(self, seen: Seen, names: Collection[str]) -> LagsFound:
        """The lag of those of these connectors that are sinks, asked of the broker at most every few seconds."""
        sinks = {name: sink for name, known in seen.connectors.items() if (sink := known.as_sink())}
        found = self._lags.of(sinks)
        lags = {name: lag for name, lag in found.lags.items() if name in names}
        return LagsFound(lags, found.problem, found.at_ms)

    def offsets(self, name: str) -> list[dict[str, Any]]:
        """The committed offsets of any connector, as in Connect's REST API.

        :raises NotFoundError: there is no such connector. :raises RetriableError: the broker is unavailable.
        """
        known = self.known(name)
        return self._lags.committed(known.group) if known.kind == "sink" else self._offsets.of_source(name)

    def dead_letters(self, name: str) -> dict[str, Any]:
        """See `DeadLetters.count`. :raises NotFoundError: there is no such connector."""
        return self._dead_letters.count(self.known(name))

    def last_dead_letters(self, name: str, most: int) -> list[dict[str, Any]]:
        """See `DeadLetters.last`. :raises NotFoundError: there is no such connector."""
        return self._dead_letters.last(self.known(name), most)

    def close(self) -> None:
        """End the background thread."""
        if "_offsets" in self.__dict__:
            self._offsets.close()

    @cached_property
    def _offsets(self) -> CommittedOffsets:
        return CommittedOffsets(self._plane.worker, follow=self._follow)

    @cached_property
    def _lags(self) -> Lags:
        return Lags(self._plane.worker)

    @cached_property
    def _dead_letters(self) -> DeadLetters:
        return DeadLetters(self._plane.worker)

    def _with_offsets(self) -> list[str]:
        """Sources that are known by their offsets alone. Where runs write statuses, those have been deleted."""
        return [] if self._plane.worker.writes_statuses else self._offsets.sources()

    def _known(
        self,
        name: str,
        registered: ConnectorState | None,
        status: ConnectorStatus,
        runs: ConnectorRuns | None,
        target: TargetState,
    ) -> Known:
        props = registered.texts if registered else runs.config if runs else {}
        of_class = kind(props, self._plane.worker) if props else UNKNOWN
        known = of_class if of_class != UNKNOWN or runs is None else runs.kind or UNKNOWN
        offsets = self._offsets.of(name, known, group_of(name, props, runs))
        if known == UNKNOWN and offsets is not None and registered is None:
            known = "source"
        return Known(name, registered, known, target, status, runs or ConnectorRuns(), offsets)

    def _scheduled(self, connectors: Iterable[Known]) -> Scheduled:
        """What the scheduler knows about these connectors: one question about DAGs, and one about runs in progress."""
        scheduler = self._plane.runs
        if not isinstance(scheduler, SchedulesRuns):
            return Scheduled()
        found = list(connectors)
        dags = scheduler.dags({dag for known in found for dag in known.dag_ids})
        running = (task_of(run) for known in found for run in known.runs.runs if run.running)
        return Scheduled(scheduler, dags, scheduler.task_states({task for task in running if task}))

    def _remembered(self, known: Known) -> list[dict[str, Any]]:
        runs = self._plane.runs
        return runs.history(list(_tasks(known))) if isinstance(runs, RemembersRuns) else []


def not_registered(name: str) -> str:
    """Why a connector that has run cannot be changed."""
    return (
        f"{name} has run but is not registered: its configuration is in its DAG or file. "
        "Register it with `kconnect create FILE`"
    )


def _tasks(known: Known) -> Iterator[DagTask]:
    """The tasks whose runs are those of a connector; a mapped one may have been that of another connector."""
    if known.own_dag is not None:
        yield DagTask(known.own_dag, TASK_ID)
    task = next(filter(None, map(task_of, known.runs.runs)), None)
    if task is not None and task.map_index < 0 and task.dag != known.own_dag:
        yield DagTask(task.dag, task.task)


def _now_ms() -> int:
    return int(time.time() * 1000)


_watches: dict[ControlPlane, Watch] = {}
_watches_lock = Lock()


def watch_of(plane: ControlPlane) -> Watch:
    """The watch of a control plane, which ends with it. :raises RetriableError: the plane was closed."""
    with _watches_lock:
        watch = _watches.get(plane)
        if watch is None:
            plane.at_close(lambda: _forget(plane))
            watch = _watches[plane] = Watch(plane)
            watch.start()
        return watch


def _forget(plane: ControlPlane) -> None:
    with _watches_lock:
        watch = _watches.pop(plane, None)
    if watch is not None:
        watch.close()
