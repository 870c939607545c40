"""The internal topics of a worker: made where they are missing, with the settings that the worker names."""

from __future__ import annotations

from airflow_kconnect.connect.worker_config import WorkerConfig
from airflow_kconnect.kafka.admin import KafkaAdmin, ensure_compacted

# What is no setting of the topic; Connect sets the clean-up policy itself.
_NO_SETTINGS = ("topic", "partitions", "replication.factor", "cleanup.policy", "file.filename")


def ensure_offset_topic(admin: KafkaAdmin, worker: WorkerConfig, topic: str) -> int:
    """Make sure of the offset topic; returns its number of partitions.

    :param topic: the worker's ``offset.storage.topic``, or the ``offsets.storage.topic`` of a connector.
    :raises ConfigError: it is not compacted, or cannot be created.
    """
    return _ensure(admin, worker, "offset", topic, int(worker.get("offset.storage.partitions")))


def ensure_config_topic(admin: KafkaAdmin, worker: WorkerConfig) -> int:
    """Make sure of the worker's ``config.storage.topic``; returns its number of partitions.

    :raises ConfigError: it is not compacted, or cannot be created.
    """
    return _ensure(admin, worker, "config", str(worker.get("config.storage.topic")), 1)


def _ensure(admin: KafkaAdmin, worker: WorkerConfig, store: str, topic: str, partitions: int) -> int:
    settings = worker.with_prefix(f"{store}.storage.")
    return ensure_compacted(
        admin,
        topic,
        f"{store}.storage.topic",
        partitions=partitions,
        replication=int(worker.get(f"{store}.storage.replication.factor")),
        settings={name: value for name, value in settings.items() if name not in _NO_SETTINGS},
    )
