"""What `kconnect run` shows while many connectors run: bars on a terminal, a line for each that has ended elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self

from rich.console import RenderableType
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, Task, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from airflow_kconnect.cli.console import Console
from airflow_kconnect.runs.events import describe_event
from airflow_kconnect.runs.group import MemberEnd
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.submit.group import GroupProgress, problem_of
from airflow_kconnect.submit.heartbeat import SILENCE_S, STARTING, Heartbeat

# Of those that have failed; the end lists all of them.
_MOST_FAILED = 8


class GroupDisplay(Protocol):
    """Shows a group in progress."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def event(self, event: Mapping[str, Any], end: MemberEnd | None) -> None:
        """Show an event of the job. :param end: that of a connector, if the event says it."""

    def line(self, line: str) -> None:
        """Show another line of its output, or not."""


def group_display_of(console: Console, progress: GroupProgress, verbose: bool) -> GroupDisplay:
    """The display that suits the console. :param progress: has taken in each event that is shown."""
    if console.is_terminal:
        return GroupBars(console, progress, verbose)
    return GroupLines(console, progress, verbose)


class _Spinner(SpinnerColumn):
    """Turns for those that run."""

    def render(self, task: Task) -> RenderableType:
        return Text("✗", style="bold red") if task.stop_time is not None else super().render(task)


class GroupBars:
    """A bar of connectors, and a row for each that runs or has failed; they go away at the end."""

    def __init__(self, console: Console, progress: GroupProgress, verbose: bool) -> None:
        self._group, self._verbose = progress, verbose
        columns = (_Spinner(), TextColumn("{task.description}"), BarColumn(bar_width=30))
        facts = TextColumn("{task.fields[facts]}")
        self._bars = Progress(*columns, facts, TimeElapsedColumn(), console=console, transient=True)
        self._all = self._bars.add_task(STARTING, total=None, facts="")
        self._rows: dict[str, TaskID] = {}
        self._failed: list[str] = []

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def event(self, event: Mapping[str, Any], end: MemberEnd | None) -> None:
        name = str(event.get("connector"))
        begins = name in self._group.running and name not in self._rows
        if end is not None:
            self._ended(end)
        elif name in self._group.running:
            self._show(name, event)
        elif _is_of_all(event):
            self._bars.update(self._all, description=escape(describe_event(event)))
        if begins or end is not None:
            self._count()

    def line(self, line: str) -> None:
        if self._verbose:
            self._bars.console.print(Text(line, style="dim"))

    def _show(self, name: str, event: Mapping[str, Any]) -> None:
        row = self._row(name)
        if event.get("event") == "phase":
            self._bars.update(row, description=f"{escape(name)}: {escape(describe_event(event))}")
        elif event.get("event") == "progress":
            records, expected = event["records"], event.get("expected")
            facts = f"{records:,} records, {event['rate']:,.0f}/s"
            self._bars.update(row, completed=records, total=expected, facts=facts)

    def _count(self) -> None:
        ended, silent, running = self._group.ended, len(self._group.silent), len(self._group.running)
        failed = sum(end.error is not None for end in ended)
        facts = [f"{running:,} running"] + [f"{silent - running:,} waiting"] * (silent > running)
        facts += [f"[bold red]{failed:,} failed[/]"] * (failed > 0)
        total = len(ended) + silent
        text = f"{len(ended):,} of {total:,} connectors"
        self._bars.update(self._all, description=text, completed=len(ended), total=total, facts=", ".join(facts))

    def _ended(self, end: MemberEnd) -> None:
        row = self._row(end.connector)
        if end.error is None:
            self._bars.remove_task(self._rows.pop(end.connector))
            return
        text = f"[bold red]{escape(end.connector)} failed:[/] {escape(problem_of(end.error))}"
        self._bars.update(row, description=text, total=1, completed=0, facts="")
        self._bars.stop_task(row)
        self._failed.append(end.connector)
        if len(self._failed) > _MOST_FAILED:
            self._bars.remove_task(self._rows.pop(self._failed.pop(0)))

    def _row(self, name: str) -> TaskID:
        if name not in self._rows:
            self._rows[name] = self._bars.add_task(escape(name), total=None, facts="")
        return self._rows[name]


class GroupLines:
    """A line for each connector that has ended; at least every `silence_s` seconds one that names those that run."""

    def __init__(self, console: Console, progress: GroupProgress, verbose: bool, silence_s: float = SILENCE_S) -> None:
        self._console, self._group, self._verbose = console, progress, verbose
        self._heartbeat = Heartbeat(self._show, silence_s=silence_s)
        self._begun: set[object] = set()

    def __enter__(self) -> Self:
        self._heartbeat.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._heartbeat.__exit__()

    def event(self, event: Mapping[str, Any], end: MemberEnd | None) -> None:
        name = event.get("connector")
        if end is not None:
            self._heartbeat.say(f"[{self._group.count()}] {end_text(end)}")
        if end is not None or (name in self._group.running and name not in self._begun):
            self._begun.add(name)
            self._heartbeat.doing(self._group.text())
        elif _is_of_all(event):
            self._heartbeat.doing(describe_event(event))

    def line(self, line: str) -> None:
        if self._verbose:
            self._heartbeat.say(line)

    def _show(self, text: str) -> None:
        self._console.print(Text(text), soft_wrap=True)


def _is_of_all(event: Mapping[str, Any]) -> bool:
    """Whether an event says what is done for all connectors, before any of them runs."""
    return event.get("event") == "phase" and event.get("connector") is None


def end_text(end: MemberEnd) -> str:
    """How a connector has ended, in one line."""
    if end.error is not None:
        return f"{end.connector} failed: {problem_of(end.error)}"
    return RunReport.of(end.report or {}).summary()
