"""The internal topics of a worker: created where they are missing, with the worker's settings for them."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.compacted_topics import ensure_compacted
from airflow_kconnect.worker_config.keys import CREATES_INTERNAL_TOPICS, WorkerConfig

# What is not a topic setting; Connect sets the clean-up policy itself.
_NO_SETTINGS = ("topic", "partitions", "replication.factor", "cleanup.policy", "file.filename")
# Connect's default, for which a cluster needs at least that many brokers.
_CONNECTS_DEFAULT = 3
_BROKERS_DEFAULT = -1
_DEAD_LETTERS = "errors.deadletterqueue.topic"


def ensure_offset_topic(admin: KafkaAdmin, worker: WorkerConfig, topic: str) -> int:
    """Make sure that the offset topic exists; returns its number of partitions.

    :param topic: the worker's ``offset.storage.topic``, or the ``offsets.storage.topic`` of a connector.
    :raises ConfigError: it is not compacted, or cannot be created.
    """
    return _ensure(admin, worker, "offset", topic, int(worker.get("offset.storage.partitions")))


def ensure_config_topic(admin: KafkaAdmin, worker: WorkerConfig) -> int:
    """Make sure that the worker's ``config.storage.topic`` exists; returns its number of partitions.

    :raises ConfigError: it is not compacted, or cannot be created.
    """
    return _ensure(admin, worker, "config", worker.config_topic, 1)


def ensure_status_topic(admin: KafkaAdmin, worker: WorkerConfig) -> int:
    """Make sure that the worker's ``status.storage.topic`` exists; returns its number of partitions.

    :raises ConfigError: it is not compacted, or cannot be created.
    """
    return _ensure(admin, worker, "status", worker.status_topic, int(worker.get("status.storage.partitions")))


def check_config_topic(topic: str, partitions: int) -> bool:
    """Whether the config topic exists: records of several partitions have no order, so it must have a single one.

    :raises ConfigError: it has several partitions.
    """
    if partitions > 1:
        text = (
            f"Topic '{topic}' supplied via the 'config.storage.topic' property is required to have a single partition"
            f" in order to guarantee consistency of connector configurations, but found {partitions} partitions."
        )
        raise ConfigError({"config.storage.topic": [text]})
    return partitions == 1


def replication_of(admin: KafkaAdmin, worker: WorkerConfig, store: str) -> int:
    """Replication factor for a new internal topic: the worker's setting, else what suits the cluster.

    :param store: `offset`, `config` or `status`.
    :returns: -1 is the brokers' default.
    """
    key = f"{store}.storage.replication.factor"
    return int(worker.get(key)) if key in worker.props else _default_replication(admin)


def ensure_dead_letter_topic(admin: KafkaAdmin, topic: str | None, props: Mapping[str, str]) -> None:
    """Make sure that a dead-letter topic exists; a new one has one partition, as in Connect.

    :param topic: None if the connector has none.
    :param props: of the connector.
    :raises ConfigError: it cannot be created; names the key.
    """
    if topic is not None and admin.partitions(topic) == 0:
        admin.create_topic(topic, 1, dead_letter_replication(admin, props), prefix=_DEAD_LETTERS)


def dead_letter_replication(admin: KafkaAdmin, props: Mapping[str, str]) -> int:
    """Replication factor for a new dead-letter topic: the connector's setting, else what suits the cluster."""
    factor = props.get(f"{_DEAD_LETTERS}.replication.factor")
    return int(factor) if factor else _default_replication(admin)


def _default_replication(admin: KafkaAdmin) -> int:
    """Connect's default if there are enough brokers for it, else the brokers' own: Connect would fail there."""
    _, brokers = admin.cluster()
    return _CONNECTS_DEFAULT if brokers >= _CONNECTS_DEFAULT else _BROKERS_DEFAULT


def _ensure(admin: KafkaAdmin, worker: WorkerConfig, store: str, topic: str, partitions: int) -> int:
    if not worker.get(CREATES_INTERNAL_TOPICS) and admin.partitions(topic) == 0:
        raise _missing(topic, f"{store}.storage.topic")
    settings = worker.with_prefix(f"{store}.storage.")
    return ensure_compacted(
        admin,
        topic,
        f"{store}.storage.topic",
        partitions=partitions,
        replication=lambda: replication_of(admin, worker, store),
        settings={name: value for name, value in settings.items() if name not in _NO_SETTINGS},
    )


def _missing(topic: str, key: str) -> ConfigError:
    """With the text of Connect 4.4."""
    text = (
        f"Topic '{topic}' specified via the '{key}' property is missing. The config '{CREATES_INTERNAL_TOPICS}' is set"
        " to 'false', so automatic creation of internal topics is disabled. Either enable automatic creation or create"
        " the topics manually."
    )
    return ConfigError({key: [text]})
