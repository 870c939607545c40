"""How the latest run of each connector ended, as Airflow's scheduler knows it: also if its worker was killed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.models.dagrun import DagRun
from airflow.models.taskinstance import TaskInstance
from airflow.utils.session import create_session
from airflow.utils.state import TaskInstanceState
from airflow.utils.types import DagRunType
from sqlalchemy import and_, func, select
from sqlalchemy.exc import SQLAlchemyError

from airflow_kconnect.control.runs import Ending
from airflow_kconnect.submit.dag_ids import PREFIX

log = logging.getLogger(__name__)

_FRESH_S = 3.0
# There may be millions of runs: only recent ones are looked at.
_WINDOW = timedelta(days=14)
_UNSUCCESSFUL = (TaskInstanceState.FAILED, TaskInstanceState.UP_FOR_RETRY)
_LIVE_MODES = (None, "auto", "resume")


class Endings:
    """Looks at the tasks of all registered connectors in one query; answers are kept for a few seconds. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until = 0.0
        self._known: Mapping[str, Ending] = {}

    def of(self, dag_id: str) -> Ending | None:
        """Of the latest run of a DAG; None if its task is in progress or has succeeded, or if it was a replay."""
        # While another request asks, the answer is what was known before.
        if time.monotonic() >= self._until and self._lock.acquire(blocking=self._until == 0.0):
            try:
                if time.monotonic() >= self._until:
                    self._known = _asked(self._known)
                    self._until = time.monotonic() + _FRESH_S
            finally:
                self._lock.release()
        return self._known.get(dag_id)


def _asked(before: Mapping[str, Ending]) -> Mapping[str, Ending]:
    try:
        with create_session() as session:
            return {
                row.dag_id: _ending(row) for row in session.execute(_query()) if row.end_date and _is_live(row.conf)
            }
    except SQLAlchemyError as error:
        # A status must not fail because of it.
        log.warning("how runs of connectors ended is not known: %s", type(error).__name__)
        return before


def _query() -> Any:
    latest = (
        select(func.max(DagRun.id).label("id"))
        .where(
            DagRun.run_after >= datetime.now(UTC) - _WINDOW,
            DagRun.dag_id.like(f"{PREFIX}%"),
            DagRun.run_type != DagRunType.BACKFILL_JOB,
        )
        .group_by(DagRun.dag_id)
        .subquery()
    )
    of_run = and_(TaskInstance.dag_id == DagRun.dag_id, TaskInstance.run_id == DagRun.run_id)
    return (
        select(DagRun.dag_id, DagRun.run_id, DagRun.conf, TaskInstance.state, TaskInstance.end_date)
        .join(latest, DagRun.id == latest.c.id)
        .join(TaskInstance, of_run)
        .where(TaskInstance.state.in_(_UNSUCCESSFUL))
    )


def _is_live(conf: Any) -> bool:
    """Replays and dry runs write no status."""
    params = conf if isinstance(conf, Mapping) else {}
    return params.get("mode") in _LIVE_MODES and not params.get("dry_run")


def _ending(row: Any) -> Ending:
    return Ending(row.run_id, int(row.end_date.timestamp() * 1000), row.state == TaskInstanceState.UP_FOR_RETRY)
