"""Keys and values of the config topic, byte for byte as `KafkaConfigBackingStore` of Kafka Connect 4.3 writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from airflow_kconnect.java_text.json import canonical_json
from airflow_kconnect.stores.json_values import json_object, member, number

Properties = Mapping[str, str | None]

CONNECTOR = "connector-"
TASK = "task-"
COMMIT = "commit-"
TASK_COUNT = "tasks-fencing-"
TARGET_STATE = "target-state-"
RESTART = "restart-connector-"
LOGGER = "logger-cluster-"
SESSION_KEY = "session-key"

_OF_ONE_CONNECTOR = (TARGET_STATE, CONNECTOR, COMMIT, TASK_COUNT, RESTART)


@dataclass(frozen=True)
class RecordKey:
    """A key of the config topic, taken apart.

    :param kind: one of this module's prefixes, or `SESSION_KEY`.
    :param name: of the connector, or of the logger; empty for the session key.
    :param task: number of the task; None for other kinds.
    """

    kind: str
    name: str = ""
    task: int | None = None

    @classmethod
    def parse(cls, key: bytes) -> RecordKey | None:
        """The parts of a key; None if Connect does not write such keys."""
        try:
            text = key.decode()
        except UnicodeDecodeError:
            return None
        if text == SESSION_KEY:
            return cls(SESSION_KEY)
        if text.startswith(TASK):
            return cls._task(text.removeprefix(TASK))
        kind = next((prefix for prefix in (*_OF_ONE_CONNECTOR, LOGGER) if text.startswith(prefix)), None)
        return None if kind in (None, text) else cls(kind, text.removeprefix(kind))

    @classmethod
    def _task(cls, text: str) -> RecordKey | None:
        """Names may contain dashes: the last one precedes the number."""
        name, dash, task = text.rpartition("-")
        return cls(TASK, name, int(task)) if name and dash and task.isascii() and task.isdecimal() else None

    def encode(self) -> bytes:
        """The key's bytes."""
        number_ = "" if self.task is None else f"-{self.task}"
        return f"{self.kind}{self.name}{number_}".encode()


@dataclass(frozen=True)
class RestartRequest:
    """What is to be restarted of a connector (KIP-745).

    :param include_tasks: its tasks, too. :param only_failed: only what has failed.
    """

    connector: str
    include_tasks: bool = False
    only_failed: bool = False

    def encode(self) -> bytes:
        """The record's value."""
        return canonical_json({"include-tasks": self.include_tasks, "only-failed": self.only_failed}).encode()

    @classmethod
    def decode(cls, connector: str, value: bytes | None) -> RestartRequest:
        """A member that is not a boolean counts as false, as in Connect. :raises ValueError: not a JSON object."""
        fields = _present(json_object(value))
        return cls(connector, fields.get("include-tasks") is True, fields.get("only-failed") is True)


def encode_properties(properties: Properties) -> bytes:
    """Value of the record of a connector or of a task."""
    return canonical_json({"properties": dict(properties)}).encode()


def decode_properties(value: bytes | None) -> dict[str, str | None] | None:
    """The configuration in a record of a connector or of a task; None for a tombstone.

    :raises ValueError: it has none, or one whose values are not texts.
    """
    fields = json_object(value)
    if fields is None:
        return None
    properties = member(fields, "properties", dict)
    wrong = sorted(key for key, text in properties.items() if not isinstance(text, str | None))
    if wrong:
        raise ValueError(f"values that are not texts: {', '.join(wrong)}")
    return properties


def decode_commit(value: bytes | None) -> int:
    """Number of tasks that are in force from here on. :raises ValueError: there is none."""
    return number(_present(json_object(value)), "tasks")


def decode_task_count(value: bytes | None) -> int:
    """Number of tasks in a record of `TASK_COUNT`. :raises ValueError: there is none."""
    return number(_present(json_object(value)), "task-count")


def encode_logger_level(level: str) -> bytes:
    """Value of the record that sets the level of a logger on all workers (KIP-976)."""
    return canonical_json({"level": level}).encode()


def decode_logger_level(value: bytes | None) -> str:
    """Level in a record of `LOGGER`. :raises ValueError: there is none."""
    return member(_present(json_object(value)), "level", str)


def _present(fields: dict[str, object] | None) -> dict[str, object]:
    if fields is None:
        raise ValueError("has no value")
    return fields
