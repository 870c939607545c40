"""Looks at connectors again and again: a table that is kept up to date, or a line for each change."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from airflow_kconnect.cli.connectors.api import Answer
from airflow_kconnect.cli.connectors.arguments import print_json
from airflow_kconnect.cli.console import Console, clean
from airflow_kconnect.connect.errors import RetriableError, first_line

Look = Callable[[], Sequence[Answer]]


def watch_statuses(
    look: Look, table: Callable[[Sequence[Answer]], RenderableType], interval_s: float, as_json: bool
) -> None:
    """Until Ctrl-C, which ends it quietly.

    Without an answer, what was seen last stays, and the reason is shown; the first look must succeed.

    :param table: shows what was seen, on a terminal.
    """
    console = Console()
    try:
        if console.is_terminal and not as_json:
            _keep_up_to_date(console, look, table, interval_s)
        else:
            for line in changes(_looks(look, interval_s)):
                print_json(line) if as_json else typer.echo(clean(_text(line)))
    except KeyboardInterrupt:
        return


def changes(looks: Iterator[Sequence[Answer] | str]) -> Iterator[Answer]:
    """What is new since the last look: `{"time", "name", ...}` of a connector, `"gone": true` for one that went, or
    `{"time", "problem"}`.

    :param looks: what was seen, or why nothing was.
    """
    known: dict[str, Answer] = {}
    problem: str | None = None
    for seen in looks:
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        if isinstance(seen, str):
            if seen != problem:
                yield {"time": now, "problem": seen}
            problem = seen
            continue
        problem = None
        new = {each["name"]: each for each in seen}
        for name, each in new.items():
            if each != known.get(name):
                yield {"time": now, **each}
        for name in known.keys() - new.keys():
            yield {"time": now, "name": name, "gone": True}
        known = new


def _looks(look: Look, interval_s: float) -> Iterator[Sequence[Answer] | str]:
    yield look()
    while True:
        time.sleep(interval_s)
        try:
            yield look()
        except RetriableError as error:
            yield first_line(error)


def _keep_up_to_date(
    console: Console, look: Look, table: Callable[[Sequence[Answer]], RenderableType], interval_s: float
) -> None:
    shown: RenderableType = Text("No connector has a state or committed offsets.")
    with Live(console=console, auto_refresh=False) as live:
        for seen in _looks(look, interval_s):
            end = Text(f"{datetime.now():%H:%M:%S}, Ctrl-C ends", style="dim")
            if isinstance(seen, str):
                end = Text(f"Not up to date: {seen}", style="yellow")
            elif seen:
                shown = table(seen)
            live.update(Group(shown, end), refresh=True)


def _text(line: Answer) -> str:
    if "problem" in line:
        return f"{line['time']} {line['problem']}"
    if "gone" in line:
        return f"{line['time']} {line['name']} is gone"
    return f"{line['time']} {line['name']} " + " ".join(_facts(line))


def _facts(line: Answer) -> Iterator[str]:
    yield line["state"]
    status: Any = line["status"]
    if status:
        yield f"reported={status['connector']['state']}"
        failed = [str(task["id"]) for task in status["tasks"] if task["state"] == "FAILED"]
        if failed:
            yield f"failed_tasks={','.join(failed)}"
    if line["lag"] is not None:
        yield f"lag={line['lag']}"
    if line["offsets"] is not None:
        yield f"offsets={len(line['offsets'])}"
