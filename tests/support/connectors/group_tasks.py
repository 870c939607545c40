"""Tasks of groups with a script as spark-submit: their connectors, and what their job prints."""

from __future__ import annotations

import json
from typing import Any

from airflow_kconnect import KafkaConnectorGroupOperator
from airflow_kconnect.runs.events import event_line
from tests.support.connectors.connector_tasks import context, report
from tests.support.spark.fake_spark import printing


class Store(dict[str, Any]):
    """Airflow's task state store, with the methods that tasks call."""

    def set(self, key: str, value: Any) -> None:
        """As `TaskStateStoreAccessor.set`."""
        self[key] = json.loads(json.dumps(value))


def a_source(name: str, **more: str) -> dict[str, str]:
    """A connector that reads a file."""
    return {"name": name, "connector.class": "FileStreamSource", "file": "/data/in", "topic": f"t-{name}", **more}


def a_sink(name: str, **more: str) -> dict[str, str]:
    """A connector that writes files."""
    return {"name": name, "connector.class": "DirectorySink", "topics": "t-a", "directory": "/lake", **more}


def group(*connectors: Any, **parameters: Any) -> KafkaConnectorGroupOperator:
    """The operator of these connectors."""
    return KafkaConnectorGroupOperator(**{"task_id": "move", "connectors": list(connectors)} | parameters)


def of_try(store: Store, number: int = 1, **facts: Any) -> Any:
    """The context of an attempt of the task."""
    found = context(task_state_store=store, **facts)
    found["ti"].try_number = number
    return found


def done(name: str, kind: str = "source", **facts: Any) -> str:
    """The event of a connector that has succeeded."""
    return event_line("report", connector=name, report=report(kind, **{"connector": name, **facts}))


def failed(name: str, error: str, code: int, message: str = "it is gone") -> str:
    """The event of one that has not."""
    return event_line("error", connector=name, error=error, message=message, exit_code=code, errors=None)


def job(*events: str, exit_code: int = 0) -> str:
    """The behaviour of a job with these events."""
    return printing(*events, exit_code=exit_code)
