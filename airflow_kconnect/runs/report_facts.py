"""The report of a run as facts for people: what `kconnect run` shows at its end, and a task's log. Pure rules."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from airflow_kconnect.runs.end import is_idle, why_incomplete
from airflow_kconnect.runs.report import UPKEEP

_MAX_OFFSETS = 10
_LABELS = {
    "held_back": "Held back",
    "held_back_bytes": "Bytes without an end of line",
    "left_for_next_run": "Left for the next run",
    "given_up_splits": "Splits given up",
    "schema_changes": "Changes of tables",
    "blocked": "In open transactions",
    "record_failures": "Failures of records",
    **{"files": "Files", "bytes": "Size", "snapshots": "Snapshots", "manifests": "Manifests"},
    **{"delete_files": "Files of deletions", "compacted": "Files written again", "small_files": "Small files"},
    **{"expired": "Snapshots to expire", "removed": "Files removed", "orphans": "Orphans", "version": "Version"},
}
# Notes that are shown otherwise, or tell only what is usual.
_UNSHOWN = frozenset(
    {"already_replayed", "dry_run", "ended", "hosted", "more", "plugin_version", "rounds"}
    | {"would_read", "would_read_offsets"}
)
_MOVED_BEFORE = " was moved before: nothing was done; `--again` moves it again"


def report_facts(report: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Names and values, in the order in which they are shown; a value may have several lines.

    :param report: `RunReport.as_dict`.
    """
    notes, records = report["notes"], report["records"]
    if report["kind"] == UPKEEP:
        yield from _upkeep_facts(report)
        return
    counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in records.items() if count)
    yield "Connector", f"{report['connector']} ({report['kind']})"
    yield "Records", counts or ("nothing new" if is_idle(report) else "none moved")
    if report.get("replay"):
        yield "Replay", report["replay"] + (_MOVED_BEFORE if notes.get("already_replayed") else "")
    if notes.get("dry_run"):
        yield "Dry run", _would_read(notes)
    if report["topics"]:
        yield "Topics", ", ".join(report["topics"])
    yield "Guarantee", report["guarantee"].replace("_", " ")
    if report["offsets"]:
        yield "Offsets", _offsets(report["offsets"])
    if lag := {topic: left for topic, left in report.get("lag", {}).items() if left}:
        yield "Lag", ", ".join(f"{left:,} in {topic}" for topic, left in lag.items())
    yield "Seconds", _seconds(report["durations_s"])
    yield from _notes(notes)
    if not report["complete"]:
        yield "Not complete", "\n".join(why_incomplete(report.get("incomplete", ()))) or "a later run continues"


def _notes(notes: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for name, note in notes.items():
        if name == "tables" and isinstance(note, dict):
            yield "Tables", "\n".join(f"{table}: {_of_table(facts)}" for table, facts in note.items())
        elif name not in _UNSHOWN:
            yield _LABELS.get(name, name), size_text(note) if name == "bytes" else _note(note)


def _of_table(facts: Mapping[str, Any]) -> str:
    counts = ", ".join(f"{facts[name]:,} {name}" for name in ("files", "snapshots") if name in facts)
    parts = [counts, size_text(facts["bytes"]) if "bytes" in facts else ""]
    if partitions := facts.get("partitions"):
        more = f" and {len(partitions) - 3} more" if len(partitions) > 3 else ""
        parts.append(f"in {', '.join(partitions[:3])}{more}")
    return ", ".join(filter(None, parts))


def _upkeep_facts(report: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    notes = report["notes"]
    yield "Connector", f"{report['connector']} (upkeep{', dry run' if notes.get('dry_run') else ''})"
    for table, facts in notes[UPKEEP].items():
        yield table, "\n".join(f"{_LABELS.get(name, name)}: {_change(name, fact)}" for name, fact in facts.items())
    if not notes[UPKEEP]:
        yield "Tables", "none"
    yield "Kept", f"all that is younger than {notes['older_than']}"
    yield "Seconds", _seconds(report["durations_s"])


def _change(name: str, fact: Any) -> str:
    """A fact of a table: what it was and what it is, or a count."""
    counts = fact if isinstance(fact, list) else [fact]
    texts = [size_text(count) if name == "bytes" else f"{count:,}" for count in counts]
    return " -> ".join(dict.fromkeys(texts))


def size_text(size: int) -> str:
    """A number of bytes for people."""
    scaled, units = float(size), ["bytes", "kB", "MB", "GB", "TB", "PB"]
    while scaled >= 1000 and len(units) > 1:
        scaled /= 1000
        del units[0]
    return f"{scaled:,.0f} {units[0]}" if scaled >= 100 or units[0] == "bytes" else f"{scaled:.1f} {units[0]}"


def report_lines(report: Mapping[str, Any]) -> list[str]:
    """The facts as lines of a log, their values one below the other."""
    facts = list(report_facts(report))
    width = max(len(name) for name, _ in facts)
    lines = []
    for name, value in facts:
        first, *others = value.split("\n")
        lines += [f"{name:{width}}  {first}", *(f"{'':{width}}  {other}" for other in others)]
    return lines


def _seconds(durations_s: Mapping[str, float]) -> str:
    phases = ", ".join(f"{name} {seconds:.1f}" for name, seconds in durations_s.items() if name != "total")
    return f"{durations_s.get('total', 0.0):.1f}" + (f" ({phases})" if phases else "")


def _note(note: Any) -> str:
    return note if isinstance(note, str) else json.dumps(note, ensure_ascii=False)


def _would_read(notes: Mapping[str, Any]) -> str:
    if "would_read_offsets" in notes:
        return f"{notes['would_read_offsets']:,} offsets would be read"
    splits = notes["would_read"]
    lines = [f"{json.dumps(split['source_partition'])} {split['start']} to {split['end']}" for split in splits]
    more = [f"and {len(lines) - _MAX_OFFSETS} more"] if len(lines) > _MAX_OFFSETS else []
    return "\n".join([f"{len(splits):,} splits would be read", *lines[:_MAX_OFFSETS], *more])


def _offsets(offsets: list[dict[str, Any]]) -> str:
    lines = [_offset(offset) for offset in offsets[:_MAX_OFFSETS]]
    if len(offsets) > _MAX_OFFSETS:
        lines.append(f"and {len(offsets) - _MAX_OFFSETS} more")
    return "\n".join(lines)


def _offset(offset: Mapping[str, Any]) -> str:
    if "topic" in offset:
        return f"{offset['topic']}-{offset['partition']}@{offset['offset']}"
    return f"{json.dumps(offset['partition'])} -> {json.dumps(offset['offset'])}"
