"""Keys and values of the status topic, byte for byte as `KafkaStatusBackingStore` of Kafka Connect 4.3 writes them.

One member is added: `TopicStatus.offset_topic_id`; and one key: `RunsKey`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from airflow_kconnect.java_text.json import canonical_json
from airflow_kconnect.stores.json_values import INT64, json_object, member, number, optional_text
from airflow_kconnect.stores.status_topic.run_records import RUNS, RunsKey

CONNECTOR = "status-connector-"
TASK = "status-task-"
TOPIC = "status-topic-"
_SEPARATOR = ":connector-"
_OFFSET_TOPIC_ID = "kconnect.offset.topic.id"


class State(Enum):
    """What a connector or a task is doing. DESTROYED is never stored: it is a record without a value."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    FAILED = "FAILED"
    DESTROYED = "DESTROYED"
    RESTARTING = "RESTARTING"
    STOPPED = "STOPPED"


@dataclass(frozen=True)
class ConnectorKey:
    """Of the status of a connector."""

    connector: str

    def encode(self) -> bytes:
        """The key's bytes."""
        return f"{CONNECTOR}{self.connector}".encode()


@dataclass(frozen=True)
class TaskKey:
    """Of the status of a task."""

    connector: str
    task: int

    def encode(self) -> bytes:
        """The key's bytes."""
        return f"{TASK}{self.connector}-{self.task}".encode()


@dataclass(frozen=True)
class TopicKey:
    """Of the record that a connector uses a topic (KIP-558)."""

    connector: str
    topic: str

    def encode(self) -> bytes:
        """The key's bytes."""
        return f"{TOPIC}{self.topic}{_SEPARATOR}{self.connector}".encode()


StatusKey = ConnectorKey | TaskKey


def parse_key(key: bytes) -> StatusKey | TopicKey | RunsKey | None:
    """The parts of a key; None if neither Connect nor a run writes such keys."""
    try:
        text = key.decode()
    except UnicodeDecodeError:
        return None
    if text.startswith(CONNECTOR):
        name = text.removeprefix(CONNECTOR)
        return ConnectorKey(name) if name else None
    if text.startswith(TASK):
        # Names may contain dashes: the last one precedes the number.
        name, dash, task = text.removeprefix(TASK).rpartition("-")
        return TaskKey(name, int(task)) if name and dash and task.isascii() and task.isdecimal() else None
    if text.startswith(TOPIC):
        # Names of topics contain no colon; names of connectors may.
        topic, separator, name = text.removeprefix(TOPIC).partition(_SEPARATOR)
        return TopicKey(name, topic) if topic and separator and name else None
    if text.startswith(RUNS):
        name = text.removeprefix(RUNS)
        return RunsKey(name) if name else None
    return None


TRACE_MAX = 8_000
"""Characters of a trace; the rest is cut off."""


def cut_off(trace: str) -> str:
    """A trace that is not too long, also if it was cut off before."""
    return trace if len(trace) <= TRACE_MAX else f"{trace[:TRACE_MAX]}... (cut off; see the log of the run)"


@dataclass(frozen=True)
class Status:
    """The status of a connector or of a task.

    :param trace: why it failed; None in other states.
    :param worker_id: who has written the status; Connect's workers write ``host:port``.
    :param generation: of the worker group when it was written; newer ones have larger numbers.
    :param version: of the connector or the task (KIP-891); None before Kafka 4.1, and in states without an instance.
    """

    state: State
    worker_id: str
    generation: int
    trace: str | None = None
    version: str | None = None

    def encode(self) -> bytes | None:
        """The record's value: None, a tombstone, for DESTROYED."""
        if self.state is State.DESTROYED:
            return None
        members = {
            "state": self.state.value,
            "trace": self.trace,
            "worker_id": self.worker_id,
            "generation": self.generation,
            "version": self.version,
        }
        return canonical_json(members).encode()

    @classmethod
    def decode(cls, value: bytes | None) -> Status | None:
        """The status in a record's value; None for a tombstone.

        :raises ValueError: it is not a status.
        """
        fields = json_object(value)
        if fields is None:
            return None
        trace = optional_text(fields, "trace")
        return cls(
            State(member(fields, "state", str)),
            member(fields, "worker_id", str),
            number(fields, "generation"),
            # Other writers may have traces of megabytes, of which each server would keep as many as there are tasks.
            None if trace is None else cut_off(trace),
            optional_text(fields, "version"),
        )


@dataclass(frozen=True)
class TopicStatus:
    """That a connector uses a topic.

    :param task: the task that has found it. :param discovered_ms: when, in epoch milliseconds.
    :param offset_topic_id: of the offset topic that a source had then. A member that Connect does not have, and skips.
    """

    topic: str
    connector: str
    task: int
    discovered_ms: int
    offset_topic_id: str | None = None

    def encode(self) -> bytes:
        """The record's value."""
        members = {
            "name": self.topic,
            "connector": self.connector,
            "task": self.task,
            "discoverTimestamp": self.discovered_ms,
        }
        if self.offset_topic_id is not None:
            members[_OFFSET_TOPIC_ID] = self.offset_topic_id
        return canonical_json({"topic": members}).encode()

    @classmethod
    def decode(cls, value: bytes | None) -> TopicStatus | None:
        """The record's content; None for a tombstone. :raises ValueError: it is something else."""
        fields = json_object(value)
        if fields is None:
            return None
        topic = member(fields, "topic", dict)
        return cls(
            member(topic, "name", str),
            member(topic, "connector", str),
            number(topic, "task"),
            number(topic, "discoverTimestamp", INT64),
            optional_text(topic, _OFFSET_TOPIC_ID),
        )
