"""Which plans a Delta table has, by the marks that its commits carry; pure rules."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.connect.connector.planned import SinkPlan
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.table.formats.base import earliest

_PLAN, _ATTEMPT, _RANGES = "kconnect.plan", "kconnect.attempt", "kconnect.ranges"
_BEFORE_ALL = -1
_REPLACING = ("CREATE OR REPLACE TABLE", "REPLACE TABLE")
_MERGED, _ADDED = ("numTargetRowsInserted", "numTargetRowsUpdated"), ("numOutputRows",)
_WRITTEN = {"files": ("numFiles", "numTargetFilesAdded"), "bytes": ("numOutputBytes", "numTargetBytesAdded")}


@dataclass(frozen=True)
class Mark:
    """What a commit says about the plan that it has written.

    :param attempt: no other write has this text.
    :param starts: the first offsets of the plan.
    """

    application: str
    number: int
    attempt: str
    starts: Mapping[TopicPartition, int] = field(default_factory=dict, compare=False)

    @classmethod
    def read(cls, text: str | None) -> Mark | None:
        """From the user metadata of a commit; None: it has none of ours."""
        try:
            fields = json.loads(text or "null")
            application, _, number = fields[_PLAN].rpartition(":")
            starts = {TopicPartition(topic, partition): start for topic, partition, start, _ in fields[_RANGES]}
            return cls(application, int(number), fields[_ATTEMPT], starts)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None


def marked(plan: SinkPlan, attempt: str) -> str:
    """The user metadata of a commit; people read the ranges, too."""
    ranges = [[range_.topic, range_.partition, range_.start, range_.end] for range_ in plan.ranges]
    return json.dumps({_PLAN: plan.identity, _ATTEMPT: attempt, _RANGES: ranges})


@dataclass(frozen=True)
class Commit:
    """A row of the table's history.

    :param ms: when it was made.
    :param metrics: of its operation.
    :param restores: the version to which it has brought the table back. :param restores_ms: or the time.
    """

    version: int
    operation: str
    ms: int
    mark: Mark | None = None
    metrics: Mapping[str, str] = field(default_factory=dict)
    restores: int | None = None
    restores_ms: int | None = None

    @property
    def undoes(self) -> bool:
        """Whether commits before it have no effect any more."""
        return self.restores is not None or self.restores_ms is not None or self.operation.startswith(_REPLACING)

    @property
    def is_merge(self) -> bool:
        """Whether it has looked for rows by their keys."""
        return self.operation == "MERGE"

    @property
    def rows(self) -> int | None:
        """How many rows it has added or changed; None: the table does not say it."""
        found = [self.metrics.get(metric) for metric in (_MERGED if self.is_merge else _ADDED)]
        return None if None in found else sum(int(each or 0) for each in found)

    def written(self) -> dict[str, Any]:
        """How many files and bytes the commit has added."""
        facts: dict[str, Any] = {}
        for name, metrics in _WRITTEN.items():
            found = [int(self.metrics[metric]) for metric in metrics if metric in self.metrics]
            facts[name] = found[0] if found else 0
        return facts


def in_effect(commits: Iterable[Commit]) -> Iterator[Commit]:
    """Without those that a later one has undone.

    :param commits: of a whole history or its end, the newest first.
    """
    version = ms = None
    for commit in commits:
        if (version is not None and commit.version > version) or (ms is not None and commit.ms > ms):
            continue
        yield commit
        version, ms = commit.restores, commit.restores_ms
        if commit.operation.startswith(_REPLACING):
            version = _BEFORE_ALL


def lost_starts(commits: Sequence[Commit], application: str, number: int) -> dict[TopicPartition, int] | None:
    """See `Table.lost_starts`. :param commits: of a whole history or its end, the newest first."""
    kept = {commit.version for commit in in_effect(commits)}
    own = [commit.mark for commit in commits if commit.version not in kept and commit.mark is not None]
    lost = [mark for mark in own if mark.application == application]
    return earliest(mark.starts for mark in lost) if any(mark.number == number for mark in lost) else None


def last_plan(commits: Iterable[Commit], application: str, accepted: int | None) -> tuple[int | None, bool]:
    """Number of the last plan of an application, and whether that is certain.

    The table remembers the number that it has accepted last, also when it is brought back to a state before that; and
    its history begins with the oldest commit that was not cleaned up.

    :param accepted: that number; None: there is none.
    """
    undone, oldest = False, None
    for oldest in in_effect(commits):
        if oldest.mark is not None and oldest.mark.application == application:
            return oldest.mark.number, True
        undone = undone or oldest.undoes
    number = None if undone else accepted
    is_whole = oldest is None or oldest.version == 0 or oldest.operation.startswith(_REPLACING)
    return number, is_whole or number is not None
