"""What the data plane knows about a run: validated configuration, clients, limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.java.regex import java_pattern
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.connect.validation.connector import ValidatedConfig
from airflow_kconnect.connect.validation.worker_keys import WorkerConfig
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.runtime.bad_records import ErrorHandling
from airflow_kconnect.stores import transactional_ids

_CHUNK_MS = 10_000


@dataclass(frozen=True)
class TopicCreation:
    """``topic.creation.*``: how to create a topic that does not exist (KIP-158).

    :param enabled: the worker's ``topic.creation.enable``.
    :param groups: (include patterns, exclude patterns, partitions, replication factor, settings) in order of
        precedence.
    """

    enabled: bool
    groups: tuple[tuple[tuple[str, ...], tuple[str, ...], int, int, Mapping[str, str]], ...] = ()

    def for_topic(self, topic: str) -> tuple[int, int, Mapping[str, str]]:
        """Partitions, replication factor and settings for a new topic; -1 is the broker's default."""
        for include, exclude, partitions, replication, settings in self.groups:
            if _matches(include, topic) and not _matches(exclude, topic):
                return partitions, replication, settings
        return -1, -1, {}

    @classmethod
    def from_props(cls, props: Mapping[str, str], *, enabled: bool) -> TopicCreation:
        """Read the groups; their values have already been validated."""
        if not any(key.startswith("topic.creation.") for key in props):
            return cls(enabled)
        names = [name.strip() for name in props.get("topic.creation.groups", "").split(",") if name.strip()]
        return cls(enabled, tuple(_group(props, name) for name in [*names, "default"]))


def _group(props: Mapping[str, str], name: str) -> tuple[tuple[str, ...], tuple[str, ...], int, int, Mapping[str, str]]:
    prefix, default = f"topic.creation.{name}.", "topic.creation.default."
    own = {key.removeprefix(prefix): value for key, value in props.items() if key.startswith(prefix)}
    include = (".*",) if name == "default" else _patterns(own.get("include", ""))
    exclude = () if name == "default" else _patterns(own.get("exclude", ""))
    partitions = int(own.get("partitions", props.get(f"{default}partitions", "-1")))
    replication = int(own.get("replication.factor", props.get(f"{default}replication.factor", "-1")))
    known = ("include", "exclude", "partitions", "replication.factor")
    return include, exclude, partitions, replication, {k: v for k, v in own.items() if k not in known}


def _patterns(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _matches(patterns: tuple[str, ...], topic: str) -> bool:
    return any(java_pattern(pattern).fullmatch(topic) for pattern in patterns)


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
        return str(self.worker.get("group.id"))

    @property
    def offset_topic(self) -> str:
        own = self.config.common.get("offsets.storage.topic")
        return str(own or self.worker.get("offset.storage.topic"))

    @property
    def tasks_max(self) -> int:
        return int(self.config.common["tasks.max"])

    def task_id(self, split: int) -> str:
        """Connect's own transactional id: acquiring it fences a live Connect task too."""
        return transactional_ids.task_id(self.group_id, self.offsets_name, split)

    @property
    def driver_id(self) -> str:
        """Transactional id of the driver; only one run at a time holds it."""
        return transactional_ids.driver_id(self.group_id, self.offsets_name)


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
    exactly_once = str(worker.get("exactly.once.source.support")).lower() == "enabled"
    chunk_ms = int(common.get("transaction.boundary.interval.ms") or _CHUNK_MS)
    if exactly_once and chunk_ms * 2 > clients.transaction_timeout_ms:
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
        exactly_once=exactly_once,
        chunk_ms=chunk_ms,
        # An interval is moved whole: no other run would continue a replay that stopped half-way.
        max_records=None if replay else common.get("kconnect.max.records"),
        max_duration_ms=None if replay else common.get("kconnect.max.duration.ms"),
        splits_max=common.get("kconnect.splits.max"),
        errors=ErrorHandling.from_common(config.name, common),
        topic_creation=TopicCreation.from_props(config.props, enabled=bool(worker.get("topic.creation.enable"))),
        replay=replay,
        dry_run=dry_run,
    )
