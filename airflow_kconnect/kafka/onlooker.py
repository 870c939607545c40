"""Admin requests of those who look at connectors again and again: few requests, and nothing is made by asking."""

from __future__ import annotations

from collections.abc import Iterable

from airflow_kconnect.kafka.admin import KafkaAdmin


class OnlookerAdmin(KafkaAdmin):
    """A `KafkaAdmin` that lives long and asks about many topics at a time."""

    def partitions_of(self, topics: Iterable[str]) -> dict[str, int]:
        """Those of the topics that exist, with their partitions; one request for all."""
        return {name: found.partitions for name, found in self.described(topics).items()}

    def groups(self) -> list[str]:
        """The ids of all consumer groups that this principal may see, sorted."""
        found = self._settled(
            "listing the consumer groups",
            lambda: self._client.list_consumer_groups(request_timeout=self._timeout_s).result(),
        )
        return sorted(group.group_id for group in found.valid)

    def forget_errors(self) -> None:
        """Take in, and keep no more than the last of, what the client has noted; for clients that live long."""
        self._client.poll(0)
        del self._errors[:-10]
