"""`kconnect list`: the registered connectors with their states."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.text import Text

from airflow_kconnect.cli.connectors.api import Connectors
from airflow_kconnect.cli.connectors.arguments import AsJson, plain_table, print_json, state_text
from airflow_kconnect.cli.connectors.command import on_connectors
from airflow_kconnect.cli.console import Console
from airflow_kconnect.connect.validation.inspection import CONNECTOR_CLASS
from airflow_kconnect.stores.status_topic.records import State

StateName = StrEnum("StateName", [(state.name, state.value) for state in State])  # type: ignore[misc]


@on_connectors
def list_(
    connectors: Connectors,
    state: Annotated[
        StateName | None,
        typer.Option(
            "--state",
            case_sensitive=False,
            help="Only those that are, or have a task that is, in this state.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the registered connectors: type, state, states of their tasks.

    Examples: `kconnect list`, `kconnect list --state failed --json`

    Connectors that run from files or DAGs without being registered are not in the list: `kconnect status` shows them.
    """
    registered = [_line(name, parts) for name, parts in sorted(connectors.expanded().items())]
    lines = [line for line in registered if state is None or state.value in {line["state"], *line["tasks"]}]
    if as_json:
        print_json({"connectors": lines})
    elif lines:
        _show(lines)
    else:
        typer.echo(f"No connector is {state.value}." if registered and state else "No connector is registered.")


def _line(name: str, parts: dict[str, Any]) -> dict[str, Any]:
    info, status = parts.get("info") or {}, parts.get("status")
    return {
        "name": name,
        "type": info.get("type", "unknown"),
        "class": info.get("config", {}).get(CONNECTOR_CLASS),
        "state": status["connector"]["state"] if status else "UNKNOWN",
        "tasks": [task["state"] for task in status["tasks"]] if status else [],
    }


def _show(lines: list[dict[str, Any]]) -> None:
    table = plain_table("Connector", "Type", "State", "Tasks", "Class")
    for line in lines:
        states = Text(" ").join(map(state_text, line["tasks"]))
        table.add_row(Text(line["name"]), line["type"], state_text(line["state"]), states, Text(line["class"] or ""))
    Console().print(table)
