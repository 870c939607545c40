"""`kconnect status`: connectors with state, offsets and lag, once or again and again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from airflow_kconnect.cli.connectors.api import Answer, Connectors
from airflow_kconnect.cli.connectors.arguments import AsJson, plain_table, print_json, state_text
from airflow_kconnect.cli.connectors.command import on_connectors
from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.offset_texts import offset_text, short_offset
from airflow_kconnect.cli.operations.watch import watch_statuses

_MOST_OFFSETS = 3
_WIDE = 10_000
_EMPTY = "No connector has a state or committed offsets."


@on_connectors
def status(
    connectors: Connectors,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME|FILE]...",
            help="Names of connectors, or their files. Default: all that have a state or committed offsets.",
            show_default=False,
        ),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Refresh until Ctrl-C.")] = False,
    interval: Annotated[
        float,
        typer.Option("--interval", min=0.2, metavar="SECONDS", help="With --watch: seconds between two refreshes."),
    ] = 2.0,
    wide: Annotated[
        bool, typer.Option("--wide", help="Show committed offsets in full, in lines as long as they are.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show connectors: kind, state, what runs have reported, committed offsets, and the lag of sinks in records.

    Examples: `kconnect status`, `kconnect status orders-sink orders-source.json`, `kconnect status --watch`

    Read from the config, status and offset topics and the consumer groups `connect-<name>`. A connector that is not
    registered, and has an offset topic of its own, is not found; one with a consumer group of its own is found by its
    file. A REST API knows the registered connectors, and no lag.

    A connector is one line, with as much of its offsets as fits; --wide and --json show them in full.

    With --watch a table is kept up to date on a terminal; elsewhere each change is a line, in JSON with --json.
    """
    if watch:
        watch_statuses(lambda: connectors.overview(names or None), partial(status_table, wide=wide), interval, as_json)
        return
    seen = connectors.overview(names or None)
    if as_json:
        print_json({"connectors": seen})
    elif not seen:
        typer.echo(_EMPTY)
    else:
        # A wide table is as wide as it needs to be, whatever the terminal is.
        console = Console(width=_WIDE) if wide else Console()
        console.print(status_table(seen, wide=wide))


def status_table(seen: Sequence[Answer], *, wide: bool = False) -> Table:
    """A row for each connector, in one line.

    :param wide: offsets in full, some lines for a connector.
    """
    table = plain_table()
    for column in ("Connector", "Kind", "State", "Reported", "Lag"):
        table.add_column(column, no_wrap=not wide, overflow="fold")
    table.add_column("Committed offsets" if wide else "Offsets", overflow="fold" if wide else "ellipsis")
    for each in seen:
        lag = "" if each["lag"] is None else f"{each['lag']:,}"
        offsets = Text(_offsets(each["offsets"])) if wide else Text(_short(each["offsets"]), no_wrap=True)
        table.add_row(Text(each["name"]), each["kind"] or "", each["state"], reported(each["status"]), lag, offsets)
    return table


def reported(status: Answer | None) -> Text:
    """What runs have reported, and how many of the tasks have failed."""
    if status is None:
        return Text()
    text = state_text(status["connector"]["state"])
    failed = sum(task["state"] == "FAILED" for task in status["tasks"])
    return text.append(f", {failed}/{len(status['tasks'])} tasks") if failed else text


def _short(offsets: Sequence[Answer] | None) -> str:
    if offsets is None:
        return "not known"
    if len(offsets) > 1:
        return f"{len(offsets):,} partitions"
    return short_offset(offsets[0]) if offsets else "none"


def _offsets(offsets: Sequence[Answer] | None) -> str:
    if offsets is None:
        return "not known"
    lines = [offset_text(entry) for entry in offsets[:_MOST_OFFSETS]]
    more = len(offsets) - _MOST_OFFSETS
    return "\n".join([*lines, *([f"and {more} more"] if more > 0 else [])]) or "none"
