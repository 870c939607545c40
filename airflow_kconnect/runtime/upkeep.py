"""Looks after the tables of a sink, between its runs: see docs/guides/lake-tables.md."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from airflow_kconnect.connect.connector.planned import PlannedSinkConnector
from airflow_kconnect.connect.connector.upkeep import TableUpkeep, Upkeep, older_than_ms
from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.sink_topics import sink_group
from airflow_kconnect.runs.report import UPKEEP, RunReport
from airflow_kconnect.runtime.process.phases import UPKEEP_PHASES, PhaseTimer
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.runtime.settings import RunSettings
from airflow_kconnect.runtime.spark_jobs import job_errors
from airflow_kconnect.stores.sink_plans import KnownPlan, plans_of_all
from airflow_kconnect.stores.status_topic.run_records import RunRecord
from airflow_kconnect.stores.status_topic.store import StatusStore
from airflow_kconnect.worker_config.keys import WorkerConfig

log = logging.getLogger("kconnect.upkeep")

_POLL_S = 5.0
# A run that works says so four times a minute; only its planning and publishing are silent.
_SILENT_MS = 3_600_000


class UpkeepRun:
    """One order to look after the tables of a connector.

    It fences no run: a run that begins meanwhile is not disturbed, and may disturb this. What such a run needs is never
    removed, see `older_than_ms`; so what is done here is safe at any time, and that no run is in progress only keeps
    them from having to repeat each other's work.
    """

    def __init__(
        self, settings: RunSettings, connector: PlannedSinkConnector, session: LazySession, upkeep: Upkeep
    ) -> None:
        self._settings, self._connector, self._session, self._upkeep = settings, connector, session, upkeep
        self._group = sink_group(settings.config.props)
        self._admin = GroupAdmin(settings.clients.admin())
        self._phases = PhaseTimer(UPKEEP_PHASES, settings.name)

    def run(self) -> RunReport:
        """The steps.

        1 wait for a run in progress to end
        2 from the plans of all sinks: which tables there are, and what must stay
        3 each table, one after the other; one that fails does not keep the others from being looked after

        :raises RetriableError: a run does not end, or something was unavailable.
        """
        self._phases.enter("connecting")
        self._admin.check_reachable()
        self._phases.enter("waiting for runs")
        wait_for_runs(lambda: runs_in_progress(self._settings.worker, self._settings.name), self._upkeep.wait_s)  # 1
        plans = plans_of_all(self._settings.clients, self._admin, self._settings.offset_topic)  # 2
        tables = self._upkeep.tables or self._tables(plans)
        limit = older_than_ms(self._upkeep, int(time.time() * 1000), _unfinished(plans))
        done: dict[str, dict[str, Any]] = {}
        if tables:
            self._session.start(self._phases)
            self._phases.enter("looking after tables")
            self._connector.open(self._session.spark)
            done = self._all(tables, plans, limit)  # 3
        return self._report(done, limit)

    def _tables(self, plans: Iterable[KnownPlan]) -> list[str]:
        """Those that the connector has written to, replays and dead letters included."""
        own = [plan.state for plan in plans if plan.group == self._group or plan.group.startswith(f"{self._group}.")]
        return sorted({table for state in own for table in (*state.taken, *state.announced)})

    def _all(self, tables: Sequence[str], plans: Sequence[KnownPlan], limit: int) -> dict[str, dict[str, Any]]:
        done: dict[str, dict[str, Any]] = {}
        failed: dict[str, ConnectError] = {}
        for number, table in enumerate(tables, start=1):
            self._phases.again(f"{table}, {number} of {len(tables)}")
            self._phases.enter("looking after tables")
            known = [plan.state for plan in plans if table in plan.state.taken or table in plan.state.announced]
            applications = tuple(state.application for state in known)
            order = TableUpkeep(self._upkeep, limit, applications, dry_run=self._settings.dry_run)
            try:
                with job_errors():
                    done[table] = self._connector.maintain(table, order)
            except ConnectError as error:
                log.error("table %s: %s", table, error)
                failed[table] = error
        if failed:
            raise _of_all(failed, len(done))
        return done

    def _report(self, done: dict[str, dict[str, Any]], limit: int) -> RunReport:
        config = self._settings.config
        at = datetime.fromtimestamp(limit / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        notes: dict[str, Any] = {UPKEEP: done, "older_than": at}
        return RunReport(
            connector=config.name,
            kind=UPKEEP,
            connector_class=config.connector_class,
            run_id=self._settings.run_id,
            notes={**notes, "dry_run": True} if self._settings.dry_run else notes,
            warnings=[*config.warnings],
            durations_s=self._phases.durations(),
        )


def runs_in_progress(worker: WorkerConfig, connector: str, now_ms: int | None = None) -> list[RunRecord]:
    """The runs of a connector, replays included, that have not ended, as far as the status topic knows.

    One that has told nothing for an hour was killed.
    """
    if not worker.writes_statuses:
        return []
    store = StatusStore(worker)
    try:
        store.refresh()
        known = store.runs(connector)
    finally:
        store.close()
    now_ms = int(time.time() * 1000) if now_ms is None else now_ms
    return [run for run in (known.runs if known else ()) if run.running and now_ms - _last_heard(run) < _SILENT_MS]


def _last_heard(run: RunRecord) -> int:
    return max(run.start_ms, run.progress.at_ms if run.progress else 0)


def wait_for_runs(running: Callable[[], Sequence[RunRecord]], wait_s: float, poll_s: float = _POLL_S) -> None:
    """Return when there is no run. :raises RetriableError: there still is one after `wait_s` seconds."""
    deadline = time.monotonic() + wait_s
    while runs := running():
        left = deadline - time.monotonic()
        if left <= 0:
            began = datetime.fromtimestamp(runs[0].start_ms / 1000, UTC).isoformat(timespec="seconds")
            raise RetriableError(
                f"run {runs[0].id} of the connector is in progress since {began}: its tables are looked after between"
                f" runs, and {wait_s:.0f} s were not enough for it to end. Give both tasks the same pool of one slot,"
                " or try again later"
            )
        time.sleep(min(poll_s, left))


def _unfinished(plans: Iterable[KnownPlan]) -> list[int]:
    return [plan.written_ms for plan in plans if plan.state.ranges]


def _of_all(failed: dict[str, ConnectError], done: int) -> ConnectError:
    """One error for those of several tables: a retry helps if it may help one of them."""
    table, first = next(iter(failed.items()))
    others = f"; {len(failed) - 1} other tables failed too, see the log" if len(failed) > 1 else ""
    text = f"table {table}: {first}{others}; {done} tables are done"
    if any(isinstance(error, RetriableError) for error in failed.values()):
        return RetriableError(text)
    return first if isinstance(first, ConfigError) else type(first)(text)
