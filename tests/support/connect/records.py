"""What others write to Connect's topics: its workers tasks, restarts, topics in use; runs what they tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from airflow_kconnect.java_text.json import canonical_json
from airflow_kconnect.stores.config_topic import records
from airflow_kconnect.stores.config_topic.records import RecordKey, RestartRequest
from airflow_kconnect.stores.config_topic.state import ClusterConfig
from airflow_kconnect.stores.config_topic.writer import ConfigWriter
from airflow_kconnect.stores.status_topic.records import Status, TopicKey, TopicStatus
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunsKey
from airflow_kconnect.stores.status_topic.store import StatusStore


def put_tasks(writer: ConfigWriter, name: str, configs: Sequence[Mapping[str, str]]) -> ClusterConfig:
    """Replace the tasks of a connector: readers see all of the new ones, or none."""
    if configs:
        encoded = enumerate(map(records.encode_properties, configs))
        writer._write([(RecordKey(records.TASK, name, task), value) for task, value in encoded])
    return writer._write([(RecordKey(records.COMMIT, name), encode_commit(len(configs)))])


def put_task_count(writer: ConfigWriter, name: str, tasks: int) -> None:
    """How many tasks may run from now on, after those of before were fenced."""
    writer._write([(RecordKey(records.TASK_COUNT, name), encode_task_count(tasks))])


def encode_commit(tasks: int) -> bytes:
    """Value of the record that puts the preceding task configurations into force."""
    return canonical_json({"tasks": tasks}).encode()


def encode_task_count(tasks: int) -> bytes:
    """Value of the record that says how many tasks the next round of fencing must fence (KIP-618)."""
    return canonical_json({"task-count": tasks}).encode()


def put_restart(writer: ConfigWriter, request: RestartRequest) -> None:
    """Request a restart of the connector."""
    writer._write([(RecordKey(records.RESTART, request.connector), request.encode())])


def put_topic(store: StatusStore, status: TopicStatus) -> None:
    """Record that a connector uses a topic."""
    store._send((TopicKey(status.connector, status.topic).encode(), status.encode()))


def put_runs(store: StatusStore, connector: str, runs: ConnectorRuns) -> None:
    """Write what the runs of a connector have told."""
    store._send((RunsKey(connector).encode(), runs.encode()))


def may_replace(status: Status, stored: Status) -> bool:
    """Connect's `putSafe`: not if another worker has written a status of a newer generation."""
    return stored.worker_id == status.worker_id or stored.generation <= status.generation
