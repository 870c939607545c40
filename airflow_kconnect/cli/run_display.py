"""What `kconnect run` shows: a progress bar on a terminal, lines elsewhere, and tables at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any, Protocol, Self

from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from airflow_kconnect.cli.console import Console
from airflow_kconnect.runbooks import runbook_address, runbook_of
from airflow_kconnect.runs.events import describe_event
from airflow_kconnect.runs.report_facts import report_facts
from airflow_kconnect.submit.heartbeat import SILENCE_S, STARTING, Heartbeat

_STEPS = {
    "bad-record": "To skip such records set `errors.tolerance` to all, and to keep them"
    " `errors.deadletterqueue.topic.name`."
}


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
    for name, value in report_facts(report):
        table.add_row(name, Text(value))
    console.print(table)
    warnings = report.get("warnings", ())
    for kind, warning in zip_longest(report.get("warning_kinds", ()), warnings, fillvalue="unknown"):
        console.print(Text.assemble((f"Warning ({kind}): ", "yellow"), warning), soft_wrap=True)


def show_error(console: Console, error: Mapping[str, Any], tail: Iterable[str]) -> None:
    """An error: a table if it is about configuration keys, else its text; Spark's last lines if it is Spark's."""
    if error["error"] == "SparkError":
        for line in tail:
            console.print(Text(line, style="dim"), soft_wrap=True)
    if not error.get("errors"):
        console.print(Text.assemble(("Error: ", "bold red"), error["message"]), soft_wrap=True)
        _show_next_step(console, error["message"])
        return
    table = Table(title="The configuration is invalid", title_justify="left", title_style="bold red")
    table.add_column("Key", overflow="fold")
    table.add_column("Problem", overflow="fold")
    for key, messages in error["errors"].items():
        for message in messages:
            table.add_row(Text(key), Text(message))
    console.print(table)
    _show_next_step(console, "\n".join(message for messages in error["errors"].values() for message in messages))


def _show_next_step(console: Console, message: str) -> None:
    """What to do about an error that a runbook explains."""
    if page := runbook_of(message):
        if step := _STEPS.get(page):
            console.print(Text(step), soft_wrap=True)
        console.print(Text(f"Runbook: {runbook_address(page)}"), soft_wrap=True)
