"""What the runs of a connector tell about themselves: one record for each connector, in the status topic.

Its key is not one of Connect's, which skips it: see docs/decisions/0051. Later versions may add members; readers skip
what they do not know, and what is not as expected.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeGuard, TypeVar

from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.stores.json_values import json_object

T = TypeVar("T")

RUNS = "kconnect-runs-"
MOST_RUNS = 20
MOST_BYTES = 64 * 1024
"""Of an encoded record; brokers accept a megabyte."""

CUT_OFF = "... (cut off)"
"""The end of a text that was too long."""

_MOST_WARNINGS = 10
_MOST_TOPICS = 100
_LONGEST_TEXT = 500
_LONGEST_VALUE = 2_000
_SHORT_VALUE = 100


@dataclass(frozen=True)
class RunsKey:
    """Of the record of a connector's runs."""

    connector: str

    def encode(self) -> bytes:
        """The key's bytes."""
        return f"{RUNS}{self.connector}".encode()


class RunState(StrEnum):
    """What became of a run."""

    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"


@dataclass(frozen=True)
class Progress:
    """How far a run was when it last said so.

    :param expected: records in all; None if that is not known. :param rate: records per second.
    """

    records: int
    expected: int | None
    rate: float
    at_ms: int


@dataclass(frozen=True)
class RunRecord:
    """One run.

    :param id: as in its report. :param end_ms: None while it runs, and if no one knows.
    :param records: the counts of its report.
    :param warnings: the first ones, cut off. :param warning_kinds: of all its warnings, each kind once.
    :param complete: whether it has moved all that was there when it began, see `runs.end`.
    :param incomplete: why not: values of `runs.end.Left`.
    :param replay: the interval that it moved again, or `dead letters`; None if it resumed from the live offsets.
    :param error: first line. :param progress: while it runs.
    :param origin: who started it, see `RunSpec.origin`.
    """

    id: str
    state: RunState
    start_ms: int
    end_ms: int | None = None
    records: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    warning_kinds: tuple[str, ...] = ()
    complete: bool = False
    incomplete: tuple[str, ...] = ()
    replay: str | None = None
    error: str | None = None
    progress: Progress | None = None
    origin: Mapping[str, str | int] = field(default_factory=dict)

    def ended(self, end_ms: int, *, error: str | None = None) -> RunRecord:
        """The run with its end. :param error: in one line, why it has failed; None if it has not."""
        state = RunState.SUCCESS if error is None else RunState.FAILED
        return replace(self, state=state, end_ms=end_ms, error=error, progress=None)

    def with_report(self, report: RunReport) -> RunRecord:
        """The run with what its report says."""
        left = len(report.warnings) - _MOST_WARNINGS
        more = (f"... and {left:,} more: see the log of the run",) if left > 0 else ()
        return replace(
            self,
            records=dict(report.records),
            warnings=(*map(str, report.warnings[:_MOST_WARNINGS]), *more),
            warning_kinds=tuple(dict.fromkeys(map(str, report.warning_kinds))),
            complete=report.complete,
            incomplete=tuple(report.incomplete),
        )

    @property
    def running(self) -> bool:
        """Whether its end was not written yet."""
        return self.state is RunState.RUNNING

    @property
    def fresh(self) -> bool:
        """Whether it has moved everything that was there when it began."""
        return self.state is RunState.SUCCESS and self.complete

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {**asdict(self), "state": self.state.value}

    @classmethod
    def parse(cls, value: object) -> RunRecord | None:
        """The run in a member of a record; None if it is none."""
        if not isinstance(value, dict):
            return None
        run_id, state, start_ms = value.get("id"), value.get("state"), _whole(value.get("start_ms"))
        if not isinstance(run_id, str) or state not in tuple(RunState) or start_ms is None:
            return None
        return cls(
            run_id,
            RunState(state),
            start_ms,
            _whole(value.get("end_ms")),
            _counts(value.get("records")),
            _texts(value.get("warnings")),
            _texts(value.get("warning_kinds")),
            value.get("complete") is True,
            _texts(value.get("incomplete")),
            _text(value.get("replay")),
            _text(value.get("error")),
            _progress(value.get("progress")),
            _origin(value.get("origin")),
        )


@dataclass(frozen=True)
class ConnectorRuns:
    """What is known about a connector from its runs.

    :param config: the configuration that ran last: secrets hidden, variables as they were written.
    :param connector_class: as the configuration names it. :param kind: `source` or `sink`; empty if no run got so far.
    :param topics: those of the last run that had any. :param group: the consumer group of a sink.
    :param runs: the newest first.
    """

    config: Mapping[str, str] = field(default_factory=dict)
    connector_class: str = ""
    kind: str = ""
    topics: tuple[str, ...] = ()
    group: str | None = None
    dead_letter_topic: str | None = None
    runs: tuple[RunRecord, ...] = ()

    @property
    def live(self) -> tuple[RunRecord, ...]:
        """The runs without replays, the newest first."""
        return tuple(run for run in self.runs if run.replay is None)

    def run(self, run_id: str) -> RunRecord | None:
        """A run by its id; None if it is not known, or no longer."""
        return next((run for run in self.runs if run.id == run_id), None)

    def with_runs(self, runs: Iterable[RunRecord]) -> ConnectorRuns:
        """With these runs, too, the newest first; of many those that are `_kept`. Of the same run, the end counts, else
        the one that is given here.
        """
        by_id = {run.id: run for run in self.runs}
        for run in runs:
            if not (run.running and run.id in by_id and not by_id[run.id].running):
                by_id[run.id] = run
        newest = sorted(by_id.values(), key=lambda run: (run.start_ms, run.id), reverse=True)
        return replace(self, runs=_kept(newest))

    def without_run(self, run_id: str) -> ConnectorRuns:
        """Without one of the runs."""
        return replace(self, runs=tuple(run for run in self.runs if run.id != run_id))

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "config": dict(self.config),
            "class": self.connector_class,
            "kind": self.kind,
            "topics": list(self.topics),
            "group": self.group,
            "dead_letter_topic": self.dead_letter_topic,
            "runs": [run.as_dict() for run in self.runs],
        }

    def encode(self) -> bytes:
        """The record's value, which is never larger than `MOST_BYTES`: what is long is cut off, then what is old."""
        for smaller in (_bounded, _with_short_values, _with_few_warnings, _without_values):
            encoded = _encoded(cut := smaller(self))
            if len(encoded) <= MOST_BYTES:
                return encoded
        while len(encoded) > MOST_BYTES:
            cut = replace(cut, runs=cut.runs[:-1]) if len(cut.runs) > 1 else replace(cut, config={}, topics=())
            encoded = _encoded(cut)
        return encoded

    @classmethod
    def decode(cls, value: bytes | None) -> ConnectorRuns | None:
        """The record's content; None for a tombstone. :raises ValueError: it is something else."""
        members = json_object(value)
        if members is None:
            return None
        config, runs = members.get("config"), members.get("runs")
        return cls(
            {key: text for key, text in config.items() if isinstance(text, str)} if isinstance(config, dict) else {},
            _text(members.get("class")) or "",
            _text(members.get("kind")) or "",
            _texts(members.get("topics")),
            _text(members.get("group")),
            _text(members.get("dead_letter_topic")),
            tuple(filter(None, map(RunRecord.parse, runs if isinstance(runs, list) else ()))),
        )


def _kept(runs: Sequence[RunRecord]) -> tuple[RunRecord, ...]:
    """As many as are kept of these, the newest first. Whatever replays and failures came after them, the last live run
    stays, and the last one that has moved everything: they say how the connector is doing, and how fresh its data is.
    """
    live = [run for run in runs if run.replay is None]
    needed = {run.id for run in (*live[:1], *[run for run in live if run.fresh][:1])}
    others = [run.id for run in runs if run.id not in needed][: MOST_RUNS - len(needed)]
    kept = needed.union(others)
    return tuple(run for run in runs if run.id in kept)


def _encoded(runs: ConnectorRuns) -> bytes:
    return json.dumps(runs.as_dict(), separators=(",", ":")).encode()


def _cut(text: str, longest: int = _LONGEST_TEXT) -> str:
    return text if len(text) <= longest else f"{text[:longest]}{CUT_OFF}"


def _cut_or_none(text: str | None) -> str | None:
    return None if text is None else _cut(text)


def _bounded(runs: ConnectorRuns) -> ConnectorRuns:
    """No part of it is unusually long."""
    return replace(
        runs,
        config={_cut(key): _cut(text, _LONGEST_VALUE) for key, text in runs.config.items()},
        connector_class=_cut(runs.connector_class),
        kind=_cut(runs.kind),
        topics=tuple(map(_cut, runs.topics[:_MOST_TOPICS])),
        group=_cut_or_none(runs.group),
        dead_letter_topic=_cut_or_none(runs.dead_letter_topic),
        runs=tuple(map(_bounded_run, runs.runs[:MOST_RUNS])),
    )


def _bounded_run(run: RunRecord) -> RunRecord:
    return replace(
        run,
        id=_cut(run.id, 4 * _LONGEST_TEXT),
        records={_cut(name): count for name, count in list(run.records.items())[:_MOST_WARNINGS]},
        warnings=tuple(_cut(warning) for warning in run.warnings[: _MOST_WARNINGS + 1]),
        warning_kinds=tuple(map(_cut, dict.fromkeys(run.warning_kinds)))[: 2 * _MOST_WARNINGS],
        incomplete=tuple(map(_cut, run.incomplete[:_MOST_WARNINGS])),
        replay=_cut_or_none(run.replay),
        error=_cut_or_none(run.error),
        origin={
            _cut(name): _cut(value, _LONGEST_VALUE) if isinstance(value, str) else value
            for name, value in list(run.origin.items())[:_MOST_WARNINGS]
        },
    )


def _with_short_values(runs: ConnectorRuns) -> ConnectorRuns:
    runs = _bounded(runs)
    return replace(runs, config={key: _cut(text, _SHORT_VALUE) for key, text in runs.config.items()})


def _with_few_warnings(runs: ConnectorRuns) -> ConnectorRuns:
    """Those of the newest run are kept."""
    runs = _with_short_values(runs)
    older = (replace(run, warnings=run.warnings[:1]) for run in runs.runs[1:])
    return replace(runs, runs=(*runs.runs[:1], *older))


def _without_values(runs: ConnectorRuns) -> ConnectorRuns:
    """Of a configuration with thousands of keys."""
    runs = _with_few_warnings(runs)
    return runs if len(json.dumps(dict(runs.config))) <= MOST_BYTES // 2 else replace(runs, config={})


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63 else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else ()


def _members(value: object, read: Callable[[object], T | None]) -> dict[str, T]:
    known = value.items() if isinstance(value, dict) else ()
    return {name: of for name, given in known if (of := read(given)) is not None}


def _counts(value: object) -> dict[str, int]:
    return _members(value, _whole)


def _origin(value: object) -> dict[str, str | int]:
    return _members(value, lambda given: _text(given) if isinstance(given, str) else _whole(given))


def _progress(value: object) -> Progress | None:
    if not isinstance(value, dict):
        return None
    records, rate, at_ms = _whole(value.get("records")), value.get("rate"), _whole(value.get("at_ms"))
    if records is None or at_ms is None or not _is_number(rate):
        return None
    return Progress(records, _whole(value.get("expected")), float(rate), at_ms)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
