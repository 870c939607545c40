"""What `complete`, `idle` and `lag` mean, for runs of every kind: native, Python and hosted. Pure rules, no I/O.

- A run is *complete* if everything that readers could see when it planned is committed: moved, filtered, or a dead
  letter. What came later, and what an open transaction of Kafka hides from readers, is for the next run. A run that is
  not complete says why: `Left`.
- A run is *idle* if it is complete and had nothing to do.
- The *lag* of a sink is the distance from where its next run begins to the end of the log, as Kafka's own tools count
  it: in offsets, with what open transactions hold back. What a run would *read* ends where readers of committed records
  do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.runs.warnings import Kind, RunWarning


class Left(StrEnum):
    """Why a run is not complete; the report's `incomplete` has these values."""

    MAX_RECORDS = "max_records"
    MAX_DURATION = "max_duration"
    MORE = "more"
    RESUMED = "resumed"
    HELD_BACK = "held_back"
    GIVEN_UP = "given_up"
    NOT_COMMITTED = "not_committed"
    PAUSED = "paused"
    SILENT = "silent"
    HUNG = "hung"
    DRY_RUN = "dry_run"


_TEXTS: Mapping[Left, str] = {
    Left.MAX_RECORDS: "`kconnect.max.records` ended this run; the next one continues",
    Left.MAX_DURATION: "`kconnect.max.duration.ms` ended this run; the next one continues",
    Left.MORE: "the plan of this run did not hold everything; the next one continues",
    Left.RESUMED: "this run has finished what an earlier one had planned; the next one looks for what is new",
    Left.HELD_BACK: "rows wait for the end of transactions of the source; a later run reads them",
    Left.GIVEN_UP: "files or tables were replaced or removed while they were read",
    Left.NOT_COMMITTED: "the sink does not commit yet what it was given; the next run gives it that again",
    Left.PAUSED: "a task of the sink takes no more records in this run; the next one gives it the rest",
    Left.SILENT: "the sink was given none of the records that are there; the next run tries again",
    Left.HUNG: "the plug-in does not return from one of its methods; the next run moves what it did not commit",
    Left.DRY_RUN: "this was a dry run: nothing was moved",
}


def why_incomplete(left: Iterable[str]) -> list[str]:
    """The reasons as texts for people; a value of a later version stays as it is."""
    return [_TEXTS[Left(each)] if each in set(Left) else each for each in left]


def left_by_plan(notes: Mapping[str, Any], *, max_records: int | None, given_up: bool) -> list[Left]:
    """What the last plan of a native source has left.

    :param notes: of the plan: ``more`` is set by one that did not hold everything; ``held_back`` and
        ``left_for_next_run`` name rows and tables that wait for open transactions.
    :param max_records: the bound of the run.
    :param given_up: whether splits were given up.
    """
    waits = bool(notes.get("held_back") or notes.get("left_for_next_run"))
    left = [Left.HELD_BACK] if waits else []
    if notes.get("more") and not (waits and max_records is None):
        left.append(Left.MORE if max_records is None else Left.MAX_RECORDS)
    return [*left, Left.GIVEN_UP] if given_up else left


def waiting(notes: Mapping[str, Any]) -> list[RunWarning]:
    """Warnings of a native source that has left whole tables to a later run, because of open transactions.

    :param notes: of its last plan, see `left_by_plan`.
    """
    tables = notes.get("left_for_next_run", {}).items()
    return [
        RunWarning(Kind.WAITING, f"table {table} is left for the next run: {holder} can still add rows")
        for table, holder in tables
    ]


def is_idle(report: Mapping[str, Any]) -> bool:
    """Whether a run had nothing to do.

    :param report: `RunReport.as_dict`.
    """
    records = report["records"]
    return bool(report["complete"]) and not any(records.get(name) for name in ("read", "already_done"))


def run_start(committed: int | None, begin: int, end: int, log_end: int, *, latest: bool) -> int:
    """The offset at which a run of a sink would begin in a partition.

    :param committed: the group's offset; None if it has none.
    :param begin: of the log. :param end: for readers of committed records. :param log_end: of the log.
    :param latest: `auto.offset.reset`, for a sink without an offset. What a run would reject or warn of counts as
        unread: so it is started, and reports why.
    """
    if committed is not None and begin <= committed <= log_end:
        return committed
    return end if latest and committed is None else begin


def distance(start: int, end: int) -> int:
    """Offsets from where a run begins: to the log's end it is the lag, to that of readers what a run would read."""
    return max(end - start, 0)


def lag_of(
    reached: Mapping[TopicPartition, int], log_ends: Mapping[TopicPartition, int]
) -> tuple[dict[str, int], int | None]:
    """The lag by topic, and the largest of a partition.

    :param reached: next offset of each partition; if empty, the second number is None.
    :param log_ends: where they end; a missing one counts as reached.
    """
    lags = {tp: distance(offset, log_ends.get(tp, offset)) for tp, offset in reached.items()}
    by_topic: dict[str, int] = {}
    for topic_partition, offsets in sorted(lags.items()):
        by_topic[topic_partition.topic] = by_topic.get(topic_partition.topic, 0) + offsets
    return by_topic, max(lags.values(), default=None)
