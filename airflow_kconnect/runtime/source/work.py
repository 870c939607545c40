"""A plan being carried out, and how far its splits are. Pure rules, no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from airflow_kconnect.connect.connector.source import Offset, ResumePoint
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.runtime.source.split_report import SplitReport
from airflow_kconnect.runtime.written_ranges import Ranges
from airflow_kconnect.stores.offset_topic.records import Marker, PlanRecord
from airflow_kconnect.stores.offset_topic.view import OffsetView


@dataclass(frozen=True)
class NewOffset:
    """A source partition's offset after a run, and the facts to store next to it."""

    partition: dict[str, Any]
    offset: Offset | None
    facts: dict[str, Any] | None = None


@dataclass
class PlanOutcome:
    """The result of a plan.

    :param reports: of the splits that this run carried out.
    :param read: how many records the source delivered.
    :param offsets: the source offsets that now apply.
    :ivar topics: to which records of the plan were written, by earlier runs too.
    """

    work: Work
    reports: list[SplitReport] = field(default_factory=list)
    read: int = 0
    offsets: list[NewOffset] = field(default_factory=list)
    topics: set[str] = field(init=False)

    def __post_init__(self) -> None:
        # Now: the view is read again before the next plan, and then has other markers.
        self.topics = self.work.topics_before.union(*(report.topics for report in self.reports))


@dataclass(frozen=True)
class Work:
    """One plan being carried out.

    :param resumed: whether an earlier run had started it.
    :param given_up: splits whose source was replaced or dropped meanwhile.
    :param cut: whether there is more to do than fits into the plan.
    :param notes: planning details for the report.
    """

    plan: PlanRecord
    view: OffsetView
    resumed: bool = False
    given_up: frozenset[int] = frozenset()
    cut: bool = False
    notes: dict[str, Any] = field(default_factory=dict)

    def is_done(self, split: int) -> bool:
        """Whether the split was finished before this run."""
        marker = self._marker(split)
        return marker is not None and marker.done

    @property
    def begun(self) -> bool:
        """Whether anything of the plan is committed."""
        return any(marker.plan_id == self.plan.plan_id for marker in self.view.markers.values())

    def continued(self, offsets: list[NewOffset], *, bounded: bool) -> Work:
        """The same; when an earlier run had planned it, with what has come since then, and perhaps more, still to plan.

        :param offsets: those after it. Without any, as after a whole copy, another plan would begin from scratch.
        :param bounded: whether the run moves no more than one plan.
        """
        more = self.resumed and not bounded and any(new.offset is not None for new in offsets)
        return replace(self, cut=self.cut or more)

    @property
    def topics_before(self) -> set[str]:
        """The topics to which earlier runs have written records of the plan."""
        markers = self.view.markers.values()
        return {topic for marker in markers if marker.plan_id == self.plan.plan_id for topic in marker.topics}

    @property
    def ranges_before(self) -> list[Ranges]:
        """Where earlier runs have written records of the plan, if it is that of a replay."""
        return [marker.ranges for marker in self.view.markers.values() if marker.plan_id == self.plan.plan_id]

    @property
    def to_do(self) -> tuple[int, ...]:
        """The splits (or tasks) that are not finished."""
        return tuple(k for k in range(self.plan.tasks) if not self.is_done(k) and k not in self.given_up)

    def resume_point(self, split: int) -> ResumePoint:
        """Where the split resumes: after its last committed row, or at its start."""
        marker = self._marker(split)
        return marker.progress if marker and marker.progress is not None else self.plan.splits[split].start

    def needs_plan(self, reports: list[SplitReport]) -> bool:
        """Whether offsets cannot express what this run leaves done: after a split that was stopped, a later one of the
        same source partition has moved records.
        """
        stopped: set[str] = set()
        for k, split in enumerate(self.plan.splits):
            identity = partition_identity(split.source_partition)
            resume_point, done = self.reached(k, reports)
            if identity in stopped and (done or resume_point is not None):
                return True
            if not done:
                stopped.add(identity)
        return False

    def reached(self, split: int, reports: list[SplitReport]) -> tuple[ResumePoint | None, bool]:
        """The split's resume point after this run, and whether that is its end."""
        report = _report_of(split, reports)
        if report is None or report.done:
            return self.plan.splits[split].end, True
        return report.resume_point, False

    def bad(self, split: int, reports: list[SplitReport]) -> int:
        """How many rows of the split were dead letters or skipped, in earlier runs too."""
        known = _report_of(split, reports) or self._marker(split)
        return known.bad if known else 0

    def _marker(self, split: int) -> Marker | None:
        """What earlier runs have committed of the split."""
        marker = self.view.markers.get(split)
        return marker if marker and marker.plan_id == self.plan.plan_id else None


def _report_of(split: int, reports: list[SplitReport]) -> SplitReport | None:
    return next((report for report in reports if report.split == split), None)
