"""Keys and values of the config topic, byte for byte as `KafkaConfigBackingStore` of Kafka Connect 4.3 writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from airflow_kconnect.java_text.json import canonical_json
from airflow_kconnect.stores.json_values import json_object, member

Properties = Mapping[str, str | None]

CONNECTOR = "connector-"
TASK = "task-"
COMMIT = "commit-"
TASK_COUNT = "tasks-fencing-"
TARGET_STATE = "target-state-"
RESTART = "restart-connector-"
LOGGER = "logger-cluster-"
SESSION_KEY = "session-key"

_PREFIXES = (TARGET_STATE, CONNECTOR, TASK, COMMIT, TASK_COUNT, RESTART, LOGGER)


@dataclass(frozen=True)
class RecordKey:
    """A key of the config topic, taken apart.

    :param kind: one of this module's prefixes, or `SESSION_KEY`.
    :param name: of the connector, of one of its tasks, or of the logger; empty for the session key.
    """

    kind: str
    name: str = ""

    @classmethod
    def parse(cls, key: bytes) -> RecordKey | None:
        """The parts of a key; None if Connect does not write such keys."""
        try:
            text = key.decode()
        except UnicodeDecodeError:
            return None
        if text == SESSION_KEY:
            return cls(SESSION_KEY)
        kind = next((prefix for prefix in _PREFIXES if text.startswith(prefix)), None)
        return None if kind in (None, text) else cls(kind, text.removeprefix(kind))

    def encode(self) -> bytes:
        """The key's bytes."""
        return f"{self.kind}{self.name}".encode()


def encode_properties(properties: Properties) -> bytes:
    """Value of the record of a connector."""
    return canonical_json({"properties": dict(properties)}).encode()


def decode_properties(value: bytes | None) -> dict[str, str | None] | None:
    """The configuration in a record of a connector; None for a tombstone.

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
