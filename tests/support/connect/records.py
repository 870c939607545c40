"""What others write to Connect's topics: its workers tasks and topics in use; runs what they tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from airflow_kconnect.java_text.json import canonical_json
from airflow_kconnect.stores.config_topic import records
from airflow_kconnect.stores.config_topic.records import RecordKey
from airflow_kconnect.stores.config_topic.writer import ConfigWriter
from airflow_kconnect.stores.status_topic.records import Status, StatusKey, TopicKey, TopicStatus
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunsKey
from airflow_kconnect.stores.status_topic.store import StatusStore


def put_tasks(writer: ConfigWriter, name: str, configs: Sequence[Mapping[str, str]]) -> None:
    """Replace the tasks of a connector: readers see all of the new ones, or none."""
    tasks = [(RecordKey(records.TASK, f"{name}-{n}"), records.encode_properties(c)) for n, c in enumerate(configs)]
    commit = canonical_json({"tasks": len(configs)}).encode()
    writer._write([*tasks, (RecordKey(records.COMMIT, name), commit)])


def put_status(store: StatusStore, key: StatusKey, status: Status) -> None:
    """Write a status, also over that of another worker."""
    store._send((key.encode(), status.encode()))


def put_topic(store: StatusStore, status: TopicStatus) -> None:
    """Record that a connector uses a topic."""
    store._send((TopicKey(status.connector, status.topic).encode(), status.encode()))


def put_runs(store: StatusStore, connector: str, runs: ConnectorRuns) -> None:
    """Write what the runs of a connector have told."""
    store._send((RunsKey(connector).encode(), runs.encode()))


def may_replace(status: Status, stored: Status) -> bool:
    """Connect's `putSafe`: not if another worker has written a status of a newer generation."""
    return stored.worker_id == status.worker_id or stored.generation <= status.generation
