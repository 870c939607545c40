"""What the data plane knows about a run: validated configuration, clients, limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.patterns import matches
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.java_text.regex import java_pattern
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.runtime.bad_records import ErrorHandling
from airflow_kconnect.stores import transactional_ids
from airflow_kconnect.validation.connector import ValidatedConfig
from airflow_kconnect.worker_config.keys import WorkerConfig

_CHUNK_MS = 10_000


@dataclass(frozen=True)
class TopicGroup:
    """How to create the topics of one ``topic.creation`` group.

    :param include: Java patterns of topic names, which match whole names.
    :param exclude: patterns of names that are not in the group; they win.
    :param partitions: of a new topic; -1 is the broker's default.
    :param replication: likewise.
    :param settings: the topic's own, for example ``cleanup.policy``.
    """

    include: tuple[str, ...] = (".*",)
    exclude: tuple[str, ...] = ()
    partitions: int = -1
    replication: int = -1
    settings: Mapping[str, str] = field(default_factory=dict)

    def has(self, topic: str) -> bool:
        """Whether a topic belongs to the group."""
        return _matches(self.include, topic) and not _matches(self.exclude, topic)

    @classmethod
    def of(cls, config: ValidatedConfig, name: str) -> TopicGroup:
        """The group of this name. The default group is the one for every topic."""
        prefix = f"topic.creation.{name}."
        typed = {key.removeprefix(prefix): value for key, value in config.common.items() if key.startswith(prefix)}
        texts = {key.removeprefix(prefix): value for key, value in config.props.items() if key.startswith(prefix)}
        return cls(
            include=tuple(typed["include"]) if name != "default" else (".*",),
            exclude=tuple(typed["exclude"]) if name != "default" else (),
            partitions=typed["partitions"],
            replication=typed["replication.factor"],
            settings={key: text for key, text in texts.items() if key not in typed},
        )


@dataclass(frozen=True)
class TopicCreation:
    """``topic.creation.*``: how to create a topic that does not exist (KIP-158).

    :param enabled: the worker's ``topic.creation.enable``.
    :param groups: in order of precedence.
    """

    enabled: bool
    groups: tuple[TopicGroup, ...] = ()

    def for_topic(self, topic: str) -> TopicGroup:
        """The first group that has the topic; else the broker's defaults."""
        return next((group for group in self.groups if group.has(topic)), TopicGroup())

    @classmethod
    def of(cls, config: ValidatedConfig, *, enabled: bool) -> TopicCreation:
        """The groups of a connector."""
        if not any(key.startswith("topic.creation.") for key in config.props):
            return cls(enabled)
        names = [*config.common.get("topic.creation.groups", ()), "default"]
        return cls(enabled, tuple(TopicGroup.of(config, name) for name in names))


def _matches(patterns: tuple[str, ...], topic: str) -> bool:
    return any(matches(java_pattern(pattern), topic) for pattern in patterns)


@dataclass(frozen=True)
class RunSettings:
    """Everything that source and sink runs need to know; no secrets beyond the client configurations.

    :param chunk_ms: a long split commits its records and progress at least this often.
    :param max_records: at most this many records in this run, or None.
    :param max_duration_ms: end the run at the first commit after this time, or None.
    """

    config: ValidatedConfig
    worker: WorkerConfig
    clients: ClientConfigs
    run_id: str
    exactly_once: bool
    chunk_ms: int
    max_records: int | None
    max_duration_ms: int | None
    splits_max: int | None
    topic_creation: TopicCreation
    errors: ErrorHandling
    replay: Replay | None = None
    dry_run: bool = False

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def offsets_name(self) -> str:
        """The name under which offsets, plan and transactional ids are stored: a replay has its own."""
        return self.replay.name(self.name) if self.replay else self.name

    @property
    def group_id(self) -> str:
        return self.worker.group_id

    @property
    def offset_topic(self) -> str:
        return self.worker.offset_topic_of(self.config.common)

    @property
    def tasks_max(self) -> int:
        return int(self.config.common["tasks.max"])

    def task_id(self, split: int) -> str:
        """Connect's own transactional id: acquiring it fences a live Connect task too."""
        return transactional_ids.task_id(self.group_id, self.offsets_name, split)

    @property
    def driver_id(self) -> str:
        """Transactional id of a sink's driver; only one run at a time holds it, or one replay of an interval."""
        name = self.replay.exclusive_name(self.name) if self.replay else self.name
        return transactional_ids.driver_id(self.group_id, name)


def run_settings(
    config: ValidatedConfig,
    worker: WorkerConfig,
    run_id: str,
    *,
    replay: Replay | None = None,
    dry_run: bool = False,
) -> RunSettings:
    """Assemble a run's settings.

    :raises ConfigError: unsupported client configurations, or limits that contradict each other.
    """
    clients = ClientConfigs(worker.props, config.props, config.name)
    common = config.common
    chunk_ms = int(common.get("transaction.boundary.interval.ms") or _CHUNK_MS)
    if worker.exactly_once and chunk_ms * 2 > clients.transaction_timeout_ms:
        raise ConfigError(
            {
                "transaction.boundary.interval.ms": [
                    f"{chunk_ms} ms is too near to the producer's transaction.timeout.ms of"
                    f" {clients.transaction_timeout_ms} ms; make it at most half of that"
                ]
            },
            config.name,
        )
    return RunSettings(
        config=config,
        worker=worker,
        clients=clients,
        run_id=run_id,
        exactly_once=worker.exactly_once,
        chunk_ms=chunk_ms,
        # An interval is moved whole: no other run would continue a replay that stopped half-way.
        max_records=None if replay else common.get("kconnect.max.records"),
        max_duration_ms=None if replay else common.get("kconnect.max.duration.ms"),
        splits_max=common.get("kconnect.splits.max"),
        errors=ErrorHandling.from_common(config.name, common),
        topic_creation=TopicCreation.of(config, enabled=bool(worker.get("topic.creation.enable"))),
        replay=replay,
        dry_run=dry_run,
    )
