"""What `kconnect run` shows: a progress bar on a terminal, lines elsewhere, and tables at the end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import zip_longest
from typing import Any, Protocol, Self

from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from airflow_kconnect.cli.console import Console
from airflow_kconnect.connect.run import describe_event
from airflow_kconnect.connect.run_end import is_idle, why_incomplete
from airflow_kconnect.submit.heartbeat import SILENCE_S, STARTING, Heartbeat

_MAX_OFFSETS = 10
_LABELS = {
    "held_back": "Held back",
    "held_back_bytes": "Bytes without an end of line",
    "left_for_next_run": "Left for the next run",
    "given_up_splits": "Splits given up",
    "schema_changes": "Changes of tables",
    "blocked": "In open transactions",
    "record_failures": "Failures of records",
}
# Notes that are shown otherwise, or tell only what is usual.
_UNSHOWN = frozenset(
    {"already_replayed", "dry_run", "ended", "hosted", "more", "plugin_version", "rounds"}
    | {"would_read", "would_read_offsets"}
)
_MOVED_BEFORE = " was moved before: nothing was done; `--again` moves it again"


class Display(Protocol):
    """Shows a run in progress."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def event(self, event: Mapping[str, Any]) -> None:
        """Show an event of the job."""

    def line(self, line: str) -> None:
        """Show another line of its output, or not."""


def display_of(console: Console, verbose: bool) -> Display:
    """The display that suits the console."""
    return BarDisplay(console, verbose) if console.is_terminal else LineDisplay(console, verbose)


class BarDisplay:
    """A progress bar; it goes away at the end."""

    def __init__(self, console: Console, verbose: bool) -> None:
        self._verbose = verbose
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=30))
        facts = TextColumn("{task.fields[facts]}")
        self._progress = Progress(*columns, facts, TimeElapsedColumn(), console=console, transient=True)
        self._task = self._progress.add_task(STARTING, total=None, facts="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def event(self, event: Mapping[str, Any]) -> None:
        if event.get("event") == "phase":
            self._progress.update(self._task, description=escape(describe_event(event)))
        elif event.get("event") == "progress":
            records, expected = event["records"], event.get("expected")
            facts = f"{records:,} records, {event['rate']:,.0f}/s"
            self._progress.update(self._task, completed=records, total=expected, facts=facts)

    def line(self, line: str) -> None:
        if self._verbose:
            self._progress.console.print(Text(line, style="dim"))


class LineDisplay:
    """Lines for a log; one at least every `silence_s` seconds."""

    def __init__(self, console: Console, verbose: bool, silence_s: float = SILENCE_S) -> None:
        self._console, self._verbose = console, verbose
        self._heartbeat = Heartbeat(self._show, silence_s=silence_s)

    def __enter__(self) -> Self:
        self._heartbeat.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._heartbeat.__exit__()

    def event(self, event: Mapping[str, Any]) -> None:
        self._heartbeat.event(event)

    def line(self, line: str) -> None:
        if self._verbose:
            self._heartbeat.say(line)

    def _show(self, text: str) -> None:
        self._console.print(Text(text), soft_wrap=True)


def show_report(console: Console, report: Mapping[str, Any]) -> None:
    """The report as a small table."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in _facts(report):
        table.add_row(name, Text(value))
    console.print(table)
    warnings = report.get("warnings", ())
    for kind, warning in zip_longest(report.get("warning_kinds", ()), warnings, fillvalue="unknown"):
        console.print(Text.assemble((f"Warning ({kind}): ", "yellow"), warning), soft_wrap=True)


def _facts(report: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    records = report["records"]
    counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in records.items() if count)
    yield "Connector", f"{report['connector']} ({report['kind']})"
    yield "Records", counts or ("nothing new" if is_idle(report) else "none moved")
    if report.get("replay"):
        yield "Replay", report["replay"] + (_MOVED_BEFORE if report["notes"].get("already_replayed") else "")
    if report["notes"].get("dry_run"):
        yield "Dry run", _would_read(report["notes"])
    if report["topics"]:
        yield "Topics", ", ".join(report["topics"])
    yield "Guarantee", report["guarantee"].replace("_", " ")
    if report["offsets"]:
        yield "Offsets", _offsets(report["offsets"])
    durations = report["durations_s"]
    phases = ", ".join(f"{name} {seconds:.1f}" for name, seconds in durations.items() if name != "total")
    yield "Seconds", f"{durations.get('total', 0.0):.1f}" + (f" ({phases})" if phases else "")
    for name, note in report["notes"].items():
        if name not in _UNSHOWN:
            yield _LABELS.get(name, name), _note(note)
    if not report["complete"]:
        yield "Not complete", "\n".join(why_incomplete(report.get("incomplete", ()))) or "a later run continues"


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
    render: Callable[[Any], str] = json.dumps
    return f"{render(offset['partition'])} -> {render(offset['offset'])}"


def show_error(console: Console, error: Mapping[str, Any], tail: Iterable[str]) -> None:
    """An error: a table if it is about configuration keys, else its text; Spark's last lines if it is Spark's."""
    if error["error"] == "SparkError":
        for line in tail:
            console.print(Text(line, style="dim"), soft_wrap=True)
    if not error.get("errors"):
        console.print(Text.assemble(("Error: ", "bold red"), error["message"]), soft_wrap=True)
        return
    table = Table(title="The configuration is invalid", title_justify="left", title_style="bold red")
    table.add_column("Key", overflow="fold")
    table.add_column("Problem", overflow="fold")
    for key, messages in error["errors"].items():
        for message in messages:
            table.add_row(Text(key), Text(message))
    console.print(table)
