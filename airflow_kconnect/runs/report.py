"""The report of a run: what it has moved, what is left, how long it took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from airflow_kconnect.runs.warnings import RunWarning, kind_of

UPKEEP = "upkeep"


@dataclass
class RunReport:
    """The result of a run; small, without secrets: it goes to XCom, to the log and to ``--json``.

    :param kind: ``source`` or ``sink``; ``upkeep`` if the tables of a sink were looked after: then `notes` says in
        ``upkeep`` what was found and done, by table.
    :param guarantee: ``exactly_once`` or ``at_least_once``.
    :param records: read, written, filtered, dead_lettered, and already_done (found committed by an earlier attempt).
    :param topics: source: those that received records, including from an attempt that this run resumed; sink: those
        that it reads.
    :param offsets: source: list of {partition, offset}; sink: list of {topic, partition, offset}; committed ones.
    :param complete: see `runs.end`. :param incomplete: why it is not complete: values of `runs.end.Left`.
    :param durations_s: seconds by phase, and ``total``.
    :param replay: the interval that was moved again, ``begin/end``; None if the run resumed from the live offsets.
    :param warning_kinds: the kind of each warning, in their order: values of `runs.warnings.Kind`.
    :param ranges: of a source's replay: where its records are, a list of {topic, partition, start, end}, the end
        exclusive. Records that others wrote at the same time may lie between them.
    :param lag: of a sink: by topic, at the end of the run; `notes` has what open transactions hold back of it as
        ``blocked``, by topic-partition.
    :param lag_max: the same for the topic-partition with the largest lag; None for a source or if not known.
    """

    connector: str
    kind: str
    connector_class: str
    run_id: str
    guarantee: str = "exactly_once"
    records: dict[str, int] = field(default_factory=dict)
    topics: list[str] = field(default_factory=list)
    offsets: list[dict[str, Any]] = field(default_factory=list)
    splits: int = 0
    resumed_plan: bool = False
    complete: bool = True
    incomplete: list[str] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    warning_kinds: list[str] = field(default_factory=list)
    durations_s: dict[str, float] = field(default_factory=dict)
    replay: str | None = None
    ranges: list[dict[str, Any]] = field(default_factory=list)
    lag: dict[str, int] = field(default_factory=dict)
    lag_max: int | None = None

    def __post_init__(self) -> None:
        self.complete = self.complete and not self.incomplete
        if len(self.warning_kinds) != len(self.warnings):
            self.warning_kinds = [kind_of(warning) for warning in self.warnings]

    def warn(self, warning: RunWarning) -> None:
        """Add a warning."""
        self.warnings.append(warning)
        self.warning_kinds.append(warning.kind)

    @classmethod
    def of(cls, members: Mapping[str, Any]) -> RunReport:
        """The report of a job, possibly of a later version. :raises TypeError: a member is missing."""
        return cls(**{of.name: members[of.name] for of in fields(cls) if of.name in members})

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return asdict(self)

    def summary(self) -> str:
        """A one-line summary for display."""
        written, total = self.records.get("written", 0), self.durations_s.get("total", 0.0)
        if self.kind == UPKEEP:
            return f"{self.connector}: upkeep of {len(self.notes.get(UPKEEP, {}))} tables in {total:.1f} s"
        records = "1 record" if written == 1 else f"{written:,} records"
        why = f": {', '.join(self.incomplete)}" if self.incomplete else ""
        state = "" if self.complete else f", not complete{why}"
        state += f", replay of {self.replay}" if self.replay else ""
        return f"{self.connector}: {records} written in {total:.1f} s ({self.guarantee}{state})"
