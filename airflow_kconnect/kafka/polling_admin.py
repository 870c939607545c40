"""Admin requests for polling connectors: few requests, none of which creates anything."""

from __future__ import annotations

from collections.abc import Iterable

from airflow_kconnect.kafka.admin import KafkaAdmin


class PollingAdmin(KafkaAdmin):
    """A long-lived `KafkaAdmin` that queries many topics at a time."""

    def partitions_of(self, topics: Iterable[str]) -> dict[str, int]:
        """Those of the topics that exist, with their partitions; a single request."""
        return {name: description.partitions for name, description in self.described(topics).items()}

    def groups(self) -> list[str]:
        """The ids of all consumer groups that this principal may see, sorted."""
        listing = self._settled(
            "listing the consumer groups",
            lambda: self._client.list_consumer_groups(request_timeout=self._timeout_s).result(),
        )
        return sorted(group.group_id for group in listing.valid)

    def forget_errors(self) -> None:
        """Process the errors that the client has recorded and keep only the last one; for long-lived clients."""
        self._client.poll(0)
        del self._errors[:-10]
