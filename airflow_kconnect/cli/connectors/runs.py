"""`kconnect runs`: the last runs of a connector."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from airflow_kconnect.cli.connectors.api import Answer, Connectors
from airflow_kconnect.cli.connectors.arguments import AsJson, Name, print_json
from airflow_kconnect.cli.connectors.command import on_connectors
from airflow_kconnect.cli.connectors.listing import run_state_text
from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.moments import date, roughly

_COUNTS = {"read": "Read", "written": "Written", "filtered": "Filtered", "dead_lettered": "Dead letters"}


@on_connectors
def runs(
    connectors: Connectors,
    name: Name,
    most: Annotated[int, typer.Option("--max", "-n", min=1, metavar="N", help="How many runs to show.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show the last runs of a connector, the newest first: start, duration, records, warnings, state, where it ran.

    Example: kconnect runs orders-sink

    Registered or not. Runs leave what they did in the worker's `status.storage.topic`, the last 20 of a connector;
    where the worker has none, nothing is known of them. Below are the error or the warnings of the newest run.
    """
    found = connectors.runs(name)[:most]
    if as_json:
        print_json({"runs": found})
    elif not found:
        typer.echo(f"No run of connector {name} is known.")
    else:
        console = Console()
        console.print(_table(found))
        for line in _about(found[0]):
            console.print(line, soft_wrap=True)


def _table(found: Sequence[Answer]) -> Table:
    counts = [count for count in _COUNTS if count in ("read", "written") or any(_count(run, count) for run in found)]
    table = Table(box=None, pad_edge=False)
    for column in ("Started (UTC)", "Took"):
        table.add_column(column, no_wrap=True)
    for count in (*map(_COUNTS.__getitem__, counts), "Warnings"):
        table.add_column(count, justify="right")
    table.add_column("State", no_wrap=True)
    table.add_column("Where", overflow="fold")
    for run in found:
        numbers = [f"{number:,}" if (number := _count(run, count)) is not None else "" for count in counts]
        warnings = str(len(run["warnings"]) or "")
        table.add_row(date(run["start_ms"]), _took(run), *numbers, warnings, _state(run), Text(_where(run)))
    return table


def _count(run: Answer, name: str) -> int | None:
    number: int | None = (run["records"] or {}).get(name)
    return number


def _took(run: Answer) -> str:
    if run["start_ms"] is None or run["end_ms"] is None:
        return ""
    return roughly(run["end_ms"] - run["start_ms"])


def _state(run: Answer) -> Text:
    state = "idle" if run["state"] == "success" else run["state"]
    text = run_state_text(state, "warned" if run["warnings"] else None)
    return Text(run["state"], style=text.style).append(f" (replay {run['replay']})" if run["replay"] else "")


def _where(run: Answer) -> str:
    origin = run["origin"] or {}
    if "dag" in origin:
        return f"DAG {origin['dag']}, {origin.get('run', '')}"
    host = origin.get("host")
    elsewhere = f" on {host}" if host and host != socket.gethostname() else ""
    return f"{origin['file']}{elsewhere}" if "file" in origin else f"kconnect run{elsewhere}" if host else ""


def _about(newest: Answer) -> list[Text]:
    lines = [Text.assemble(("Error: ", "bold red"), newest["error"])] if newest["error"] else []
    return [*lines, *(Text.assemble(("Warning: ", "yellow"), warning) for warning in newest["warnings"])]
