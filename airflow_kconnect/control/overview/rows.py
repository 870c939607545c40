"""A connector as JSON, for the Connectors page and `kconnect list`: in short for the list, in full for its own view.

No I/O. All that is shown of a connector, registered or not, is joined here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.control.overview.known import Known
from airflow_kconnect.control.run_states import (
    RunState,
    as_ended,
    attention,
    fresh_ms,
    run_state,
    runs_in_connect,
    task_of,
)
from airflow_kconnect.control.runs import Dag, SchedulesRuns, TaskRun, TaskState
from airflow_kconnect.stores.status_topic.records import State, Status
from airflow_kconnect.stores.status_topic.run_records import RunRecord
from airflow_kconnect.validation.dag_keys import GROUP_NAME

_MOST_TOPICS = 5
_LONGEST_CAUSE = 300
_MOST_RUNS = 20


@dataclass(frozen=True)
class Scheduled:
    """What a scheduler knows; nothing, if there is none.

    :param dags: those that it has; None if there is no scheduler. :param tasks: the tasks of runs in progress.
    """

    scheduler: SchedulesRuns | None = None
    dags: Mapping[str, Dag] | None = None
    tasks: Mapping[TaskRun, TaskState] = field(default_factory=dict)

    def url(self, dag: str, task: str | None = None) -> str | None:
        """The page of a DAG, or of a task of it; None if the scheduler does not have it."""
        if self.scheduler is None or dag not in (self.dags or {}):
            return None
        return self.scheduler.url(dag, task)

    def log_url(self, run: RunRecord) -> str | None:
        """The page with the log of a run; None if it was not started by the scheduler."""
        task = task_of(run)
        if self.scheduler is None or task is None:
            return None
        attempt = run.origin.get("try")
        return self.scheduler.log_url(task, attempt if isinstance(attempt, int) else 0)


def row(known: Known, scheduled: Scheduled, now_ms: int) -> dict[str, Any]:
    """A row of the list; the guide to the REST API describes its members."""
    status = known.status.status
    failed = [task for task in known.status.tasks.values() if task.state is State.FAILED]
    runs = as_ended(known.runs.runs, scheduled.tasks, now_ms)
    live = [run for run in runs if run.replay is None]
    state = _state(known, scheduled, live, failed)
    topics = list(known.status.topics or known.runs.topics)
    changed = [moment for moment in (known.status.changed_ms, known.offsets and known.offsets.changed_ms) if moment]
    return {
        "name": known.name,
        "type": known.kind,
        "class": known.connector_class,
        "registered": known.registered is not None,
        "configured": _configured(known, scheduled),
        "target_state": known.target.value,
        "state": _connect_state(status, failed).value,
        "run_state": state.value,
        "attention": attention(next(iter(live), None)) if state is RunState.IDLE else None,
        "worker_id": status.worker_id if status else None,
        "version": status.version if status else None,
        "tasks": len(known.status.tasks),
        "failed_tasks": len(failed),
        "cause": _cause([*([status] if status else []), *failed], live if state is RunState.FAILED else ()),
        "topics": topics[:_MOST_TOPICS],
        "topic_count": len(topics),
        "offsets": known.offsets and dict(vars(known.offsets)),
        "changed_ms": max(changed, default=None),
        "last_run": shown_run((live or runs)[0], scheduled) if runs else None,
        "fresh_ms": fresh_ms(live),
        **_schedule(known, scheduled),
    }


def detail(
    known: Known, scheduled: Scheduled, now_ms: int, config: Mapping[str, str], others: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """All of a connector.

    :param config: secrets hidden. :param others: runs that the scheduler remembers; those without a record are shown.
    """
    status = known.status
    return {
        **row(known, scheduled, now_ms),
        "config": dict(config),
        "trace": status.status.trace if status.status else None,
        "tasks": [
            {"id": task, "state": of.state.value, "worker_id": of.worker_id, "version": of.version, "trace": of.trace}
            for task, of in sorted(status.tasks.items())
        ],
        "topics": [
            {"name": topic.topic, "task": topic.task, "discovered_ms": topic.discovered_ms}
            for topic in status.topics.values()
        ]
        or [{"name": topic, "task": 0, "discovered_ms": None} for topic in known.runs.topics],
        "dead_letter_topic": known.dead_letter_topic,
        "group": known.group if known.kind == "sink" else None,
        "history": history(as_ended(known.runs.runs, scheduled.tasks, now_ms), scheduled, others),
    }


def history(
    runs: Sequence[RunRecord], scheduled: Scheduled, others: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The runs of a connector, the newest first.

    :param others: those that the scheduler remembers. One that did not come so far as to leave a record is shown, too.
    """
    recorded = {_dag_run(run.origin) for run in runs} - {(None, None)}
    shown = [shown_run(run, scheduled) for run in runs]
    shown += [dict(run) for run in others if _dag_run(run.get("origin", {})) not in recorded]
    return sorted(shown, key=_newest_first)[:_MOST_RUNS]


def shown_run(run: RunRecord, scheduled: Scheduled) -> dict[str, Any]:
    """A run with a link to its log."""
    progress = dict(vars(run.progress)) if run.progress else None
    members = {**vars(run), "state": run.state.value, "progress": progress, "url": scheduled.log_url(run)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in members.items()}


def _dag_run(origin: Mapping[str, Any]) -> tuple[Any, Any]:
    """A run of a DAG may have several attempts, each with a record."""
    return origin.get("dag"), origin.get("run")


def _newest_first(run: Mapping[str, Any]) -> float:
    """A run that has not begun is the newest."""
    return float("-inf") if run["start_ms"] is None else -float(run["start_ms"])


def _state(known: Known, scheduled: Scheduled, live: Sequence[RunRecord], failed: Sequence[Status]) -> RunState:
    status = known.status
    has_failed = bool(failed) or (status.status is not None and status.status.state is State.FAILED)
    signs_of_runs = (known.runs.runs, known.offsets, status.tasks, status.topics)
    return run_state(
        known.target,
        next(iter(live), None),
        failed=has_failed,
        no_dag=bool(known.registered) and scheduled.dags is not None and not _dag_id(known, scheduled.dags),
        never_run=known.registered is not None and not any(signs_of_runs),
        in_connect=runs_in_connect(status.status),
    )


def _dag_id(known: Known, dags: Mapping[str, Dag] | None) -> str | None:
    """The DAG that runs it: the first that the scheduler has."""
    return next((dag for dag in known.dag_ids if dag in (dags or {})), None)


def _schedule(known: Known, scheduled: Scheduled) -> dict[str, Any]:
    found = _dag_id(known, scheduled.dags)
    dag = Dag() if found is None or scheduled.dags is None else scheduled.dags[found]
    from_runs = known.origin.dag if known.origin else None
    return {
        "next_run_ms": dag.next_run_ms,
        "schedule": dag.schedule,
        "dag_id": found or from_runs,
        "team": dag.team,
    }


def _configured(known: Known, scheduled: Scheduled) -> list[dict[str, Any]]:
    """Where its configuration is: registered, in the DAG whose task has run it, in the file of the last run."""
    places: list[dict[str, Any]] = []
    own = known.own_dag
    if own is not None:
        has_dag = own in (scheduled.dags or {})
        group = known.props.get(GROUP_NAME, "").strip()
        of_group = {"group": group} if group else {}
        place = {"kind": "registered", "dag_id": own if has_dag else None, "url": scheduled.url(own), **of_group}
        places.append(place)
    if known.origin is not None and known.origin.dag != own:
        dag, task = known.origin
        places.append({"kind": "dag", "dag_id": dag, "task_id": task, "url": scheduled.url(dag, task)})
    last = known.runs.runs[0].origin if known.runs.runs else {}
    if "file" in last:
        places.append({"kind": "file", "path": last["file"], "host": last.get("host")})
    return places


def _connect_state(known: Status | None, failed: Sequence[Status]) -> State:
    if failed:
        return State.FAILED
    return known.state if known else State.UNASSIGNED


def _cause(statuses: Sequence[Status], live: Sequence[RunRecord]) -> str | None:
    """The first line of a trace; without one what the last run says."""
    traces = (status.trace for status in statuses if status.state is State.FAILED)
    text = next((trace for trace in traces if trace), None) or (live[0].error if live else None)
    return text.strip().partition("\n")[0][:_LONGEST_CAUSE] if text else None
