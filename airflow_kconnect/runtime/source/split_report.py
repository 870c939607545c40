"""The report of a source split: how far it is, and what happened to its rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.connect.connector.source import ResumePoint


@dataclass
class SplitReport:
    """The report of a split.

    :param read: rows that the writer got, before anything was done to them.
    :param resume_point: resume point after the last committed row.
    :param already_done: rows that an earlier attempt had committed and that were skipped.
    :param dropped: rows of a poll task that were not committed, since what belongs to them had not come.
    :param topics: where records were written, including those of earlier attempts of the split.
    :param offsets: (source partition, offset) pairs committed by a poll task.
    :param ranges: of a replay: where its committed records are, see `runtime.written_ranges`.
    :param bad: dead letters of the split, or what was skipped in place of them, with those of earlier attempts.
    :param bound: what has ended a poll task before it had caught up: a value of `runs.end.Left`.
    """

    split: int
    read: int = 0
    written: int = 0
    filtered: int = 0
    dead_lettered: int = 0
    already_done: int = 0
    dropped: int = 0
    resume_point: ResumePoint | None = None
    done: bool = False
    topics: list[str] = field(default_factory=list)
    offsets: list[tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=list)
    bad: int = 0
    bound: str | None = None
    ranges: dict[str, list[int]] = field(default_factory=dict)
    error: dict[str, Any] | None = None

    @property
    def handled(self) -> int:
        """Rows that are done, whatever happened to them."""
        return self.written + self.filtered + self.dead_lettered
