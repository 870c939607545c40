"""A connector as JSON for the Connectors page: in short for the list, in full for its own view. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.validation.inspection import CONNECTOR_CLASS
from airflow_kconnect.control.watching.offsets import KnownOffsets
from airflow_kconnect.stores.config_topic.state import ConnectorState
from airflow_kconnect.stores.status_topic.records import State, Status
from airflow_kconnect.stores.status_topic.state import ConnectorStatus

_MOST_TOPICS = 5
_LONGEST_CAUSE = 300


def summary(state: ConnectorState, kind: str, status: ConnectorStatus, offsets: KnownOffsets | None) -> dict[str, Any]:
    """A row of the list.

    :param kind: `source`, `sink` or `unknown`.
    :returns: `state` is FAILED if a task is, `cause` the first line of a trace, `changed_ms` the newest change of a
        status or an offset; at most a few `topics`, and their number `topic_count`.
    """
    failed = [task for task in status.tasks.values() if task.state is State.FAILED]
    known = status.status
    changed = [moment for moment in (status.changed_ms, offsets and offsets.changed_ms) if moment]
    return {
        "name": state.name,
        "type": kind,
        "class": state.texts.get(CONNECTOR_CLASS, ""),
        "target_state": state.target_state.value,
        "state": _state(known, failed).value,
        "worker_id": known.worker_id if known else None,
        "version": known.version if known else None,
        "tasks": len(status.tasks),
        "failed_tasks": len(failed),
        "cause": _cause([*([known] if known else []), *failed]),
        "topics": list(status.topics)[:_MOST_TOPICS],
        "topic_count": len(status.topics),
        "offsets": offsets and dict(vars(offsets)),
        "changed_ms": max(changed, default=None),
    }


def detail(summary: Mapping[str, Any], config: Mapping[str, str], status: ConnectorStatus) -> dict[str, Any]:
    """All of a connector.

    :param config: secrets hidden.
    """
    return {
        **summary,
        "config": dict(config),
        "trace": status.status.trace if status.status else None,
        "tasks": [
            {"id": task, "state": of.state.value, "worker_id": of.worker_id, "version": of.version, "trace": of.trace}
            for task, of in sorted(status.tasks.items())
        ],
        "topics": [
            {"name": topic.topic, "task": topic.task, "discovered_ms": topic.discovered_ms}
            for topic in status.topics.values()
        ],
    }


def _state(known: Status | None, failed: list[Status]) -> State:
    if failed:
        return State.FAILED
    return known.state if known else State.UNASSIGNED


def _cause(statuses: list[Status]) -> str | None:
    traces = (status.trace for status in statuses if status.state is State.FAILED)
    trace = next((trace for trace in traces if trace), None)
    return trace.strip().partition("\n")[0][:_LONGEST_CAUSE] if trace else None
