"""What a task reads from the offset topic: is the run that started me still current, and how far is my split?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect.errors import FencedError, RetriableError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.log import CompactedLog
from airflow_kconnect.kafka.partitions import partition_of
from airflow_kconnect.stores.offset_topic.records import Claim, Marker, PlanRecord, claim_key, marker_key
from airflow_kconnect.stores.offset_topic.view import OffsetView


@dataclass(frozen=True)
class PlanPointer:
    """Handed to each task: the run's claim and plan, and the offset-topic positions up to which the driver has read.

    :param positions: partition of the offset topic -> next offset to read.
    :param markers: progress of unfinished splits as last seen by the driver.
    :param patience_s: how long to wait for another producer's open transaction.
    """

    connector: str
    topic: str
    topic_partitions: int
    claim: Claim
    plan: PlanRecord
    positions: Mapping[int, int]
    markers: Mapping[int, Marker]
    patience_s: float


class PlanFollower:
    """Reads, in a task, what was written since the driver's read: only the two partitions that can hold it."""

    def __init__(self, pointer: PlanPointer, split: int, admin: KafkaAdmin, consumer_config: Mapping[str, Any]) -> None:
        self._pointer, self._split, self._admin = pointer, split, admin
        keys = (claim_key(pointer.connector), marker_key(pointer.connector, split))
        self._partitions = sorted({partition_of(key, pointer.topic_partitions) for key in keys})
        self._log = CompactedLog(admin, consumer_config, pointer.topic, pointer.patience_s)
        self._log.positions = {p: pointer.positions[p] for p in self._partitions}
        self._view = OffsetView(pointer.connector)
        self._view.claim = pointer.claim
        self._view.markers = {k: m for k, m in pointer.markers.items() if k == split}

    def check_current(self) -> None:
        """:raises FencedError: another run has taken over the connector, or has finished the plan.

        :raises RetriableError: partitions were added to the offset topic, so other runs write elsewhere.
        """
        name, mine = self._pointer.connector, self._pointer.claim
        partitions = self._admin.partitions(self._pointer.topic)
        if partitions != self._pointer.topic_partitions:
            raise RetriableError(
                f"connector {name}: {self._pointer.topic} had {self._pointer.topic_partitions} partitions when run"
                f" {mine.run_id} began, and has {partitions} now; the next run resumes"
            )
        self._view.read(self._log, self._partitions)
        claim = self._view.claim
        if claim != mine:
            by = "finished" if claim is None else f"taken over by run {claim.run_id}"
            raise FencedError(f"connector {name}: run {mine.run_id} was {by}; it commits nothing more")

    def marker(self) -> Marker | None:
        """The split's progress in this plan, or None."""
        marker = self._view.markers.get(self._split)
        return marker if marker and marker.plan_id == self._pointer.plan.plan_id else None
