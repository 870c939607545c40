"""`kconnect list`: all connectors with their states and last runs."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from airflow_kconnect.cli.connectors.api import Answer, Connectors
from airflow_kconnect.cli.connectors.arguments import AsJson, plain_table, print_json, state_text
from airflow_kconnect.cli.connectors.command import on_connectors
from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.moments import ago, ahead
from airflow_kconnect.control.run_states import RunState
from airflow_kconnect.stores.status_topic.records import State

_NAMES = dict.fromkeys([*(state.value for state in RunState), *(state.value.lower() for state in State)])
StateName = StrEnum("StateName", [(name.upper(), name) for name in _NAMES if name != "destroyed"])  # type: ignore[misc]

_STYLES = {"running": "cyan", "failed": "bold red", "paused": "yellow", "stopped": "yellow", "no_dag": "yellow"}


@on_connectors
def list_(
    connectors: Connectors,
    state: Annotated[
        StateName | None,
        typer.Option(
            "--state",
            case_sensitive=False,
            help="Only those in this state: of a run, or in Connect's words.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the connectors: type, state, last run and how many records it read, next run, what to look at.

    Examples: `kconnect list`, `kconnect list --state failed --json`

    All of them, registered or run from a DAG or a file. `running` is one whose run is in progress now; one that waits
    for its next run is `idle`. Only Airflow's REST API (--server) knows the next runs. A Connect cluster is listed with
    its own states, and those of its tasks. `kconnect runs NAME` shows the runs of a connector.
    """
    known = connectors.rows()
    rows = [row for row in known if state is None or state.value in _states(row)]
    if as_json:
        print_json({"connectors": rows})
    elif rows:
        Console().print(_table(rows))
    else:
        typer.echo(f"No connector is {_words(state.value)}." if known and state else "No connector is known.")


def _states(row: Answer) -> set[str]:
    """All that a row may be found by. A connector that is `RUNNING` in Connect's sense need not have a run now."""
    connect = str(row["state"]).lower()
    run_state = row.get("run_state")
    if run_state is None:
        return {connect, *(["failed"] if row["failed_tasks"] else [])}
    return {run_state} if connect == "running" else {run_state, connect}


def _table(rows: Sequence[Answer]) -> Table:
    return _of_cluster(rows) if rows[0].get("run_state") is None else _of_runs(rows)


def _of_runs(rows: Sequence[Answer]) -> Table:
    """A line for each, in which all but the note is whole."""
    scheduled = any(row["next_run_ms"] is not None or row["schedule"] for row in rows)
    columns = ["Connector", "Type", "State", "Last run", "Records", *(["Next run"] if scheduled else [])]
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, no_wrap=True, justify="right" if column == "Records" else "left")
    table.add_column("Note", overflow="ellipsis")
    for row in rows:
        last = row["last_run"] or {}
        cells = [
            Text(row["name"]),
            row["type"],
            run_state_text(row["run_state"], row["attention"]),
            ago(last.get("start_ms")),
            _records(last),
            *([ahead(row["next_run_ms"]) or row["schedule"] or ""] if scheduled else []),
            Text(_note(row), no_wrap=True),
        ]
        table.add_row(*cells)
    return table


def _of_cluster(rows: Sequence[Answer]) -> Table:
    table = plain_table("Connector", "Type", "State", "Tasks", "Class")
    for row in rows:
        failed = f", {row['failed_tasks']} failed" if row["failed_tasks"] else ""
        tasks = Text(f"{row['tasks']}{failed}", style="bold red" if failed else "")
        table.add_row(Text(row["name"]), row["type"], state_text(row["state"]), tasks, Text(row["class"] or ""))
    return table


def run_state_text(state: str, attention: str | None = None) -> Text:
    """A state of a run in words and its colour."""
    return Text(_words(state), style="yellow" if attention else _STYLES.get(state, "green" if state == "idle" else ""))


def _words(state: str) -> str:
    return state.replace("_", " ").replace("dag", "DAG")


def _records(run: Answer) -> str:
    """What it has read so far, if it has said so."""
    progress, read = run.get("progress"), (run.get("records") or {}).get("read")
    counted = progress["records"] if progress else read
    return "" if counted is None else f"{counted:,}"


def _note(row: Answer) -> str:
    """What to look at; else where the configuration is."""
    return row["attention"] or row["cause"] or ", ".join(map(_place, row["configured"]))


def _place(place: Answer) -> str:
    match place["kind"]:
        case "dag":
            return f"DAG {place['dag_id']}, task {place['task_id']}"
        case "file":
            return f"file {place['path']}"
        case _:
            return f"group {place['group']}" if "group" in place else "registered"
