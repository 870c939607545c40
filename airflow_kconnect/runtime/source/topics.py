"""Target topics: looked up once per task, created according to ``topic.creation.*``, never an internal one."""

from __future__ import annotations

from collections.abc import Container

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.runtime.settings import TopicCreation


class TopicMaker:
    """A cache of the topics that a task has seen (as Connect's ``TopicCreation`` per task).

    :param internal: topics to which no record may be written: writing to the offset topic would block its own reader.
    """

    def __init__(self, admin: KafkaAdmin, creation: TopicCreation, internal: Container[str]) -> None:
        self._admin, self._creation, self._internal = admin, creation, internal
        self._known: set[str] = set()

    def use(self, topic: str) -> bool:
        """Make sure that a topic exists; returns whether it is new to this task.

        A missing topic is created by an admin request: with the first matching ``topic.creation`` group, else with
        the broker's defaults (Connect would leave that to the broker's auto-creation).

        :raises DataError: an internal topic. :raises ConfigError: it is missing and must not or cannot be created.
        """
        if topic in self._known:
            return False
        if topic in self._internal:
            raise DataError(f"a record is addressed to the internal topic {topic}; records must not go there")
        if self._admin.partitions(topic) == 0:
            self._create(topic)
        self._known.add(topic)
        return True

    def _create(self, topic: str) -> None:
        if not self._creation.enabled:
            raise ConfigError(
                {"topic.creation.enable": [f"topic {topic} does not exist and the worker may not create topics"]}
            )
        group = self._creation.for_topic(topic)
        self._admin.create_topic(topic, group.partitions, group.replication, group.settings)
