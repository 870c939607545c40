"""Admin requests of those who look at connectors again and again: few requests, and nothing is made by asking."""

from __future__ import annotations

from collections.abc import Iterable

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import OffsetSpec

from airflow_kconnect.connect.record import TopicPartition as Place
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.errors import error_of, translated


class OnlookerAdmin(KafkaAdmin):
    """A `KafkaAdmin` that lives long and asks about many topics at a time."""

    def partitions_of(self, topics: Iterable[str]) -> dict[str, int]:
        """Those of the topics that exist, with their partitions; one request for all."""
        names = list(topics)
        futures = self._call(
            "looking up topics",
            lambda: self._client.describe_topics(TopicCollection(names), request_timeout=self._timeout_s),
        )
        found = {}
        for name in names:
            try:
                found[name] = len(futures[name].result().partitions)
            except KafkaException as error:
                if error_of(error).code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise translated(error, f"looking up topic {name}") from error
        return found

    def groups(self) -> list[str]:
        """The ids of all consumer groups that this principal may see, sorted."""
        found = self._settled(
            "listing the consumer groups",
            lambda: self._client.list_consumer_groups(request_timeout=self._timeout_s).result(),
        )
        return sorted(group.group_id for group in found.valid)

    def bounds(self, places: Iterable[Place]) -> dict[Place, tuple[int, int]]:
        """Begin and read_committed end of partitions, of any number of topics in two requests."""
        ends = self.committed_ends(places)
        begins = self._listed("reading the begins of topics", ends, OffsetSpec.earliest())
        return {place: (begins[place], end) for place, end in ends.items()}

    def forget_errors(self) -> None:
        """Take in, and keep no more than the last of, what the client has noted; for clients that live long."""
        self._client.poll(0)
        del self._errors[:-10]
