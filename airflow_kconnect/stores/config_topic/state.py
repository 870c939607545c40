"""What the config topic says, folded record by record as `KafkaConfigBackingStore` of Kafka Connect does."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.kafka.log import LogRecord
from airflow_kconnect.stores.config_topic import records
from airflow_kconnect.stores.config_topic.records import Properties, RecordKey, RestartRequest
from airflow_kconnect.stores.json_values import json_object
from airflow_kconnect.stores.target_states import TargetState, decode_target_state

log = logging.getLogger(__name__)

# Other records of this package, which are read elsewhere.
_OUR_OWN = b"kconnect-"
_NOT_OURS_TO_READ = (records.SESSION_KEY,)


OnLogger = Callable[[str, str, tuple[int, int]], None]
"""Takes the name of a logger, its level, and timestamp (epoch ms) and offset of the record."""


@dataclass(frozen=True)
class ConnectorState:
    """What the config topic says about one connector.

    :param config: its configuration as it was submitted, variables not resolved.
    :param target_state: STARTED unless another one is recorded.
    :param tasks: configurations of its tasks; empty if there are none or they are inconsistent.
    :param inconsistent: a commit named tasks whose configurations are missing: they must be written again.
    :param generation: counts the sets of task configurations seen; None if there was none yet.
    :param applied_config: the configuration for which the tasks were made.
    :param task_count: how many tasks a round of fencing has to fence; None if none was recorded.
    :param pending_fencing: tasks were written since the last round of fencing.
    :param written: timestamp (epoch ms) and offset of the record with the configuration.
    """

    name: str
    config: Properties
    target_state: TargetState = TargetState.STARTED
    tasks: tuple[Properties, ...] = ()
    inconsistent: bool = False
    generation: int | None = None
    applied_config: Properties | None = None
    task_count: int | None = None
    pending_fencing: bool = False
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
    :param loggers: the levels that were set for all workers.
    :param target_states: all that are recorded, also of connectors that are not registered.
    """

    offset: int = -1
    connectors: Mapping[str, ConnectorState] = field(default_factory=dict)
    unreadable: Mapping[str, str] = field(default_factory=dict)
    loggers: Mapping[str, str] = field(default_factory=dict)
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

    :param on_restart: called with each new restart request, not with those that were in the topic before. It must
        return at once.
    :param on_logger: called with each level of a logger, also with those that were in the topic before; the same.
    """

    def __init__(
        self, on_restart: Callable[[RestartRequest], None] | None = None, on_logger: OnLogger | None = None
    ) -> None:
        self._on_restart, self._on_logger = on_restart, on_logger
        self._live = False
        self._snapshot: ClusterConfig | None = None
        self._offset = -1
        self._configs: dict[str, Properties] = {}
        self._written: dict[str, tuple[int, int]] = {}
        self._target_states: dict[str, TargetState] = {}
        self._tasks: dict[str, dict[int, Properties]] = {}
        self._deferred: dict[str, dict[int, Properties]] = {}
        self._committed: dict[str, int] = {}
        self._generations: dict[str, int] = {}
        self._applied: dict[str, Properties] = {}
        self._inconsistent: set[str] = set()
        self._task_counts: dict[str, int] = {}
        self._pending_fencing: set[str] = set()
        self._loggers: dict[str, str] = {}
        self._unreadable: dict[str, str] = {}
        self._fold: dict[str, Callable[[RecordKey, bytes | None], None]] = {
            records.CONNECTOR: self._connector,
            records.TASK: self._task,
            records.COMMIT: self._commit,
            records.TASK_COUNT: self._task_count,
            records.TARGET_STATE: self._target_state,
            records.RESTART: self._restart,
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
            self._fold[key.kind](key, record.value)
            if key.kind == records.CONNECTOR:
                self._written[key.name] = (record.timestamp_ms, record.offset)
            if key.kind == records.LOGGER and self._on_logger is not None:
                self._on_logger(key.name, self._loggers[key.name], (record.timestamp_ms, record.offset))
        except (ValueError, RecursionError) as error:
            # Only where it is and the kind of problem: the value may hold secrets.
            why = f"{record} with key {key.encode().decode()} cannot be read: {_problem(error)}"
            log.warning("ignoring a record of the config topic: %s", why)
            if key.kind == records.CONNECTOR:
                self._unreadable[key.name] = (
                    f"connector {key.name}: its configuration at {why}; write the configuration again, or delete the"
                    " connector"
                )

    def caught_up(self) -> None:
        """From here on restart requests are new."""
        self._live = True

    def snapshot(self) -> ClusterConfig:
        """An immutable copy of what is known."""
        if self._snapshot is None:
            self._snapshot = ClusterConfig(
                self._offset,
                MappingProxyType({name: self._state_of(name) for name in sorted(self._configs)}),
                MappingProxyType(dict(self._unreadable)),
                MappingProxyType(dict(self._loggers)),
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
        inconsistent = name in self._inconsistent
        count = 0 if inconsistent else self._committed.get(name, 0)
        return ConnectorState(
            name,
            self._configs[name],
            self._target_states.get(name, TargetState.STARTED),
            tuple(self._tasks[name][task] for task in range(count)),
            inconsistent,
            self._generations.get(name),
            self._applied.get(name),
            self._task_counts.get(name),
            name in self._pending_fencing,
            self._written.get(name),
        )

    def _connector(self, key: RecordKey, value: bytes | None) -> None:
        config = records.decode_properties(value)
        self._unreadable.pop(key.name, None)
        if config is None:
            self._forget(key.name)
        else:
            self._configs[key.name] = config

    def _forget(self, name: str) -> None:
        """Records of tasks outlive a deleted connector in the topic."""
        for known in (self._configs, self._tasks, self._deferred, self._committed, self._applied):
            known.pop(name, None)
        self._inconsistent.discard(name)

    def _task(self, key: RecordKey, value: bytes | None) -> None:
        assert key.task is not None
        config = records.decode_properties(value)
        if config is None:
            raise ValueError("has no value")
        self._deferred.setdefault(key.name, {})[key.task] = config

    def _commit(self, key: RecordKey, value: bytes | None) -> None:
        """Put the task configurations since the last commit into force, unless one of them is missing."""
        name = key.name
        if name not in self._configs:
            self._forget(name)  # it was deleted, and compaction has removed its own record
            return
        count = records.decode_commit(value)
        deferred = self._deferred.pop(name, {})
        if any(task not in deferred for task in range(count)):
            self._inconsistent.add(name)  # compaction has removed some: a later set was written without its commit
        else:
            self._inconsistent.discard(name)
            self._tasks.setdefault(name, {}).update(deferred)
            self._applied[name] = self._configs[name]
            if deferred:
                self._generations[name] = self._generations.get(name, -1) + 1
        self._committed[name] = count
        self._pending_fencing.add(name)

    def _task_count(self, key: RecordKey, value: bytes | None) -> None:
        self._task_counts[key.name] = records.decode_task_count(value)
        self._pending_fencing.discard(key.name)

    def _target_state(self, key: RecordKey, value: bytes | None) -> None:
        if json_object(value) is None:
            self._target_states.pop(key.name, None)
        elif value is not None:
            self._target_states[key.name] = decode_target_state(value)

    def _restart(self, key: RecordKey, value: bytes | None) -> None:
        if value is None:
            return
        request = RestartRequest.decode(key.name, value)
        if self._live and self._on_restart is not None:
            self._on_restart(request)

    def _logger(self, key: RecordKey, value: bytes | None) -> None:
        self._loggers[key.name] = records.decode_logger_level(value)


def _problem(error: ValueError | RecursionError) -> str:
    """What is wrong, without the value: Python's own texts quote it."""
    kind = type(error)
    return str(error) if kind is ValueError else f"not JSON ({kind.__name__})"
