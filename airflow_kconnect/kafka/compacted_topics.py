"""Compacted topics, in which Connect keeps what must not be lost: they are created if they are missing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.admin import KafkaAdmin

log = logging.getLogger(__name__)


def ensure_compacted(
    admin: KafkaAdmin,
    topic: str,
    key: str,
    *,
    partitions: int,
    replication: Callable[[], int],
    settings: Mapping[str, str],
) -> int:
    """Make sure that an internal topic exists and is compacted; returns its number of partitions.

    :param key: the worker key that names the topic, for error texts.
    :param replication: called to get the replication factor if the topic has to be created; -1 is the broker's default.
    :raises ConfigError: it exists with another ``cleanup.policy`` (Connect refuses to start, too), or cannot be
        created.
    """
    existing = admin.partitions(topic)
    if existing == 0:
        topic_settings = {**settings, "cleanup.policy": "compact"}
        admin.create_topic(topic, partitions, replication(), topic_settings, prefix=key.rpartition(".")[0])
        log.info("created topic=%s partitions=%d", topic, partitions)
        existing = admin.partitions(topic)
    policy = admin.setting(topic, "cleanup.policy")
    if policy != "compact":
        raise ConfigError(
            {
                key: [
                    f"topic {topic} has cleanup.policy={policy}, but what it keeps needs cleanup.policy=compact;"
                    " change the topic's setting, or name another topic"
                ]
            }
        )
    return existing
