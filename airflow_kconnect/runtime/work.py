"""A plan being carried out, and how far its splits are. Pure rules, no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.connect.connector import Offset, Progress
from airflow_kconnect.runtime.split_writer import SplitReport
from airflow_kconnect.stores.offsets import OffsetView
from airflow_kconnect.stores.records import PlanRecord

SourceOffsets = list[tuple[dict[str, Any], Offset]]


@dataclass(frozen=True)
class Work:
    """One plan being carried out.

    :param resumed: whether an earlier run had begun it.
    :param notes: facts of planning for the report.
    """

    plan: PlanRecord
    view: OffsetView
    resumed: bool = False
    notes: dict[str, Any] = field(default_factory=dict)

    def is_done(self, split: int) -> bool:
        """Whether the split was finished before this run."""
        marker = self.view.markers.get(split)
        return marker is not None and marker.plan_id == self.plan.plan_id and marker.done

    @property
    def to_do(self) -> tuple[int, ...]:
        """The splits (or tasks) that are not finished."""
        return tuple(k for k in range(self.plan.tasks) if not self.is_done(k))

    def resume_point(self, split: int) -> Progress:
        """Where the split goes on: after its last committed row, or at its start."""
        marker = self.view.markers.get(split)
        if marker and marker.plan_id == self.plan.plan_id and marker.progress is not None:
            return marker.progress
        return self.plan.splits[split].start

    def reached(self, split: int, reports: list[SplitReport]) -> tuple[Progress | None, bool]:
        """How far the split is after this run, and whether that is its end."""
        report = next((report for report in reports if report.split == split), None)
        if report is None or report.done:
            return self.plan.splits[split].end, True
        return report.progress, False
