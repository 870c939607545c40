"""The answers of Connect's REST API about connectors, as parsed JSON with Connect's members in Connect's order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_kconnect.stores.status_topic.records import Status
from airflow_kconnect.stores.status_topic.state import ConnectorStatus


def connector_info(name: str, config: Mapping[str, str], tasks: list[int], kind: str) -> dict[str, Any]:
    """Connect's `ConnectorInfo`.

    :param config: secrets hidden. :param kind: `source`, `sink` or `unknown`.
    """
    return {
        "name": name,
        "config": dict(config),
        "tasks": [{"connector": name, "task": task} for task in tasks],
        "type": kind,
    }


def connector_state(name: str, status: ConnectorStatus, kind: str) -> dict[str, Any]:
    """Connect's `ConnectorStateInfo`; the connector itself must have a status."""
    assert status.status is not None
    return {
        "name": name,
        "connector": _state(status.status),
        "tasks": [task_state(task, of_task) for task, of_task in sorted(status.tasks.items())],
        "type": kind,
    }


def task_state(task: int, status: Status) -> dict[str, Any]:
    """Connect's `TaskState`."""
    return {"id": task, **_state(status)}


def task_infos(name: str, tasks: list[int], config: Mapping[str, str], task_class: str) -> list[dict[str, Any]]:
    """Connect's list of `TaskInfo`: each task has the connector's configuration, and names its class."""
    return [{"id": {"connector": name, "task": task}, "config": {**config, "task.class": task_class}} for task in tasks]


def _state(status: Status) -> dict[str, Any]:
    answer: dict[str, Any] = {"state": status.state.value, "worker_id": status.worker_id}
    if status.version:
        answer["version"] = status.version
    if status.trace:
        answer["trace"] = status.trace
    return answer
