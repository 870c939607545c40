"""The topics of Connect workers of a test run: each run of a connector reads them to their end."""

from __future__ import annotations

from confluent_kafka import OFFSET_END, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from airflow_kconnect.kafka import shared
from airflow_kconnect.kafka.errors import error_of, is_not_yet
from tests.support.kafka import create_topic, eventually

_PARTITIONS = {"connect-offsets": 5, "connect-configs": 1, "connect-status": 5}
_POLICY = "cleanup.policy"


class WorkerTopics:
    """Those with usual names, which are made if they do not exist."""

    def __init__(self, bootstrap: str) -> None:
        self._admin = AdminClient({"bootstrap.servers": bootstrap})
        existing = self._admin.list_topics(timeout=30).topics
        for name in _PARTITIONS.keys() - existing:
            create_topic(bootstrap, name, _PARTITIONS[name], {_POLICY: "compact"})

    def empty(self) -> None:
        """Remove all records: what the connectors of a file have left is read by those of all later ones."""
        shared._clusters.clear()  # sensors of this process would read on where they are
        self._set_policy("compact,delete")  # else none can be removed
        try:
            assert eventually(self._are_removed, True), "records of the worker's topics cannot be removed"
        finally:
            self._set_policy("compact")

    def _are_removed(self) -> bool:
        ends = [TopicPartition(name, n, OFFSET_END) for name, count in _PARTITIONS.items() for n in range(count)]
        try:
            for future in self._admin.delete_records(ends).values():
                future.result(30)
        except KafkaException as error:
            if error_of(error).code() != KafkaError.POLICY_VIOLATION and not is_not_yet(error_of(error)):
                raise
            return False
        return True

    def _set_policy(self, text: str) -> None:
        entry = ConfigEntry(_POLICY, text, incremental_operation=AlterConfigOpType.SET)
        topics = [ConfigResource(ResourceType.TOPIC, name, incremental_configs=[entry]) for name in _PARTITIONS]
        for future in self._admin.incremental_alter_configs(topics).values():
            future.result(30)
        # The broker knows it a moment after it has accepted it.
        assert eventually(lambda: self._policies(topics), {text}) == {text}

    def _policies(self, topics: list[ConfigResource]) -> set[str]:
        return {each.result(30)[_POLICY].value for each in self._admin.describe_configs(topics).values()}
