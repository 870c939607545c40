"""What a task asks of the offset topic: is the run that started me still the one, and how far is my split?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect.errors import FencedError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.log import CompactedLog
from airflow_kconnect.kafka.partitions import partition_of
from airflow_kconnect.stores.offsets import OffsetView
from airflow_kconnect.stores.records import Marker, PlanRecord, marker_key, plan_key


@dataclass(frozen=True)
class PlanPointer:
    """Handed to each task: the plan, and the offset-topic positions from which the driver has read it.

    :param positions: partition of the offset topic -> next offset to read.
    :param markers: progress of unfinished splits as the driver has seen it.
    """

    connector: str
    topic: str
    topic_partitions: int
    plan: PlanRecord
    positions: Mapping[int, int]
    markers: Mapping[int, Marker]


class PlanFollower:
    """Reads, in a task, what came after the driver's look: only the two partitions that can hold it."""

    def __init__(self, pointer: PlanPointer, split: int, admin: KafkaAdmin, consumer_config: Mapping[str, Any]) -> None:
        self._pointer, self._split = pointer, split
        keys = (plan_key(pointer.connector), marker_key(pointer.connector, split))
        self._partitions = sorted({partition_of(key, pointer.topic_partitions) for key in keys})
        self._log = CompactedLog(admin, consumer_config, pointer.topic)
        self._log.positions = {p: pointer.positions[p] for p in self._partitions}
        self._view = OffsetView(pointer.connector)
        self._view.plan = pointer.plan
        self._view.markers = {k: m for k, m in pointer.markers.items() if k == split}

    def check_current(self) -> None:
        """:raises FencedError: when another run has taken over the plan, or finished it."""
        self._view.read(self._log, self._partitions)
        plan, mine = self._view.plan, self._pointer.plan
        if plan is None or (plan.plan_id, plan.run_id) != (mine.plan_id, mine.run_id):
            by = "finished" if plan is None else f"taken over by run {plan.run_id}"
            name = self._pointer.connector
            raise FencedError(f"connector {name}: run {mine.run_id} was {by}; it commits nothing more")

    def marker(self) -> Marker | None:
        """The split's progress in this plan, or None."""
        marker = self._view.markers.get(self._split)
        return marker if marker and marker.plan_id == self._pointer.plan.plan_id else None
