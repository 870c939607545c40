"""What the config topic says, folded record by record as `KafkaConfigBackingStore` of Kafka Connect does."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.kafka.log import LogRecord
from airflow_kconnect.stores.config_topic import records
from airflow_kconnect.stores.config_topic.records import Properties, RecordKey
from airflow_kconnect.stores.json_values import json_object
from airflow_kconnect.stores.target_states import TargetState, decode_target_state

log = logging.getLogger(__name__)

# Other records of this package, which are read elsewhere.
_OUR_OWN = b"kconnect-"
# A secret; tasks of Connect's own workers; and restarts, which Connect asks of its own workers.
_NOT_OURS_TO_READ = (records.SESSION_KEY, records.TASK, records.COMMIT, records.TASK_COUNT, records.RESTART)


OnLogger = Callable[[str, str, tuple[int, int]], None]
"""Takes the name of a logger, its level, and timestamp (epoch ms) and offset of the record."""


@dataclass(frozen=True)
class ConnectorState:
    """What the config topic says about one connector.

    :param config: its configuration as it was submitted, variables not resolved.
    :param target_state: STARTED unless another one is recorded.
    :param written: timestamp (epoch ms) and offset of the record with the configuration.
    """

    name: str
    config: Properties
    target_state: TargetState = TargetState.STARTED
    written: tuple[int, int] | None = field(default=None, compare=False)

    @property
    def texts(self) -> dict[str, str]:
        """The configuration without keys whose value is null, which count as not set."""
        return {key: value for key, value in self.config.items() if value is not None}


@dataclass(frozen=True)
class ClusterConfig:
    """A snapshot of the config topic.

    :param offset: of the next record to read; -1 if none was read.
    :param connectors: by name.
    :param unreadable: connectors without any readable configuration: why.
    :param target_states: all that are recorded, also of connectors that are not registered.
    """

    offset: int = -1
    connectors: Mapping[str, ConnectorState] = field(default_factory=dict)
    unreadable: Mapping[str, str] = field(default_factory=dict)
    target_states: Mapping[str, TargetState] = field(default_factory=dict)

    def connector(self, name: str) -> ConnectorState | None:
        """What is known about a connector; None if there is none of this name.

        :raises DataError: there is a configuration, which cannot be read.
        """
        if name in self.unreadable and name not in self.connectors:
            raise DataError(self.unreadable[name])
        return self.connectors.get(name)


class ConfigTopicState:
    """Folds the records of a config topic. Not thread-safe: a `LogFollower` locks it.

    Records that cannot be read are skipped with a warning, and what was known before stays in force, as in Connect. The
    session key of Connect's workers is a secret: it is not read.

    :param on_logger: called with each level of a logger, also with those that were in the topic before. It must return
        at once.
    """

    def __init__(self, on_logger: OnLogger | None = None) -> None:
        self._on_logger = on_logger
        self._snapshot: ClusterConfig | None = None
        self._offset = -1
        self._configs: dict[str, Properties] = {}
        self._written: dict[str, tuple[int, int]] = {}
        self._target_states: dict[str, TargetState] = {}
        self._unreadable: dict[str, str] = {}
        self._fold: dict[str, Callable[[RecordKey, LogRecord], None]] = {
            records.CONNECTOR: self._connector,
            records.TARGET_STATE: self._target_state,
            records.LOGGER: self._logger,
        }

    def add(self, record: LogRecord) -> None:
        """Take in the next record of the topic."""
        self._offset, self._snapshot = record.offset + 1, None
        if record.key is not None and record.key.startswith(_OUR_OWN):
            return
        key = None if record.key is None else RecordKey.parse(record.key)
        if key is None:
            log.warning("ignoring a record of the config topic whose key is not Connect's: %s", record)
        elif key.kind not in _NOT_OURS_TO_READ:
            self._take(key, record)

    def _take(self, key: RecordKey, record: LogRecord) -> None:
        try:
            self._fold[key.kind](key, record)
        except (ValueError, RecursionError) as error:
            # Only where it is and the kind of problem: the value may hold secrets.
            why = f"{record} with key {key.encode().decode()} cannot be read: {_problem(error)}"
            log.warning("ignoring a record of the config topic: %s", why)
            if key.kind == records.CONNECTOR:
                self._unreadable[key.name] = (
                    f"connector {key.name}: its configuration at {why}; write the configuration again, or delete the"
                    " connector"
                )

    def snapshot(self) -> ClusterConfig:
        """An immutable copy of what is known."""
        if self._snapshot is None:
            self._snapshot = ClusterConfig(
                self._offset,
                MappingProxyType({name: self._state_of(name) for name in sorted(self._configs)}),
                MappingProxyType(dict(self._unreadable)),
                MappingProxyType(dict(self._target_states)),
            )
        return self._snapshot

    def connector(self, name: str) -> ConnectorState | None:
        """What is known about a connector; None if there is none of this name.

        :raises DataError: there is a configuration, which cannot be read.
        """
        if name in self._configs:
            return self._state_of(name)
        if name in self._unreadable:
            raise DataError(self._unreadable[name])
        return None

    def _state_of(self, name: str) -> ConnectorState:
        target = self._target_states.get(name, TargetState.STARTED)
        return ConnectorState(name, self._configs[name], target, self._written.get(name))

    def _connector(self, key: RecordKey, record: LogRecord) -> None:
        config = records.decode_properties(record.value)
        self._unreadable.pop(key.name, None)
        if config is None:
            self._configs.pop(key.name, None)
        else:
            self._configs[key.name] = config
            self._written[key.name] = (record.timestamp_ms, record.offset)

    def _target_state(self, key: RecordKey, record: LogRecord) -> None:
        if json_object(record.value) is None:
            self._target_states.pop(key.name, None)
        elif record.value is not None:
            self._target_states[key.name] = decode_target_state(record.value)

    def _logger(self, key: RecordKey, record: LogRecord) -> None:
        level = records.decode_logger_level(record.value)
        if self._on_logger is not None:
            self._on_logger(key.name, level, (record.timestamp_ms, record.offset))


def _problem(error: ValueError | RecursionError) -> str:
    """What is wrong, without the value: Python's own texts quote it."""
    kind = type(error)
    return str(error) if kind is ValueError else f"not JSON ({kind.__name__})"
