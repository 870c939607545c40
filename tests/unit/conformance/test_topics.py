"""Topics of trials among those of a cluster."""

from __future__ import annotations

from collections.abc import Iterable

from airflow_kconnect.conformance.topics import Topics, name_of_trial
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.admin import KafkaAdmin


class _Listed(KafkaAdmin):
    """Lists topics, of which some are gone by now."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def topics(self) -> dict[str, int]:
        return dict.fromkeys(self._names, 1)

    def committed_ends(self, topic_partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return dict.fromkeys(topic_partitions, 7)


def test_topics_of_other_trials_are_not_asked_for_their_ends() -> None:
    topics = Topics({"bootstrap.servers": "localhost:1"})
    topics._admin = _Listed("__consumer_offsets", "orders", name_of_trial(), f"{name_of_trial()}-dead-letters")
    assert topics.ends() == {TopicPartition("orders", 0): 7}
