"""`kconnect apply`: makes the registered connectors equal to files, for configurations that are kept in Git."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from airflow_kconnect.cli.connectors.arguments import AsJson
from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.errors import errors_shown
from airflow_kconnect.cli.listening import check_listening
from airflow_kconnect.cli.worker import Servers, WorkerFile, worker_config
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.submit.folder import ConnectorFile, connector_files, read_files

if TYPE_CHECKING:
    from airflow_kconnect.control.applying import Change

_STYLES = {"created": "green", "changed": "yellow", "unchanged": "dim", "deleted": "red"}


def apply(
    files: Annotated[
        Path,
        typer.Option(
            "--filename",
            "-f",
            metavar="FOLDER|FILE",
            help="A folder of connector files (.json, .yaml, .properties), or one file.",
            show_default=False,
        ),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete registered connectors that have no file in the folder.")
    ] = False,
    worker: WorkerFile = None,
    bootstrap_servers: Servers = None,
    as_json: AsJson = False,
) -> None:
    """Register the connectors of a folder, and update those that have changed.

    Example: kconnect apply -f connectors/ --dry-run

    Connectors are registered in the worker's `config.storage.topic`, as by Connect's REST API. All files are checked
    first: if one has an error, nothing is written. A second time nothing changes. Deleted connectors keep their
    offsets. Secrets are not shown; a value `[hidden]` in a file keeps the one that is registered.

    Exit codes: 0 done; 1 a configuration is wrong; 3 Kafka is unavailable, try again; 4 another process writes too.
    """
    with errors_shown():
        connectors = _read(files, prune)
        props = worker_config(worker, bootstrap_servers)
        check_listening(props)
        from airflow_kconnect.control import applying
        from airflow_kconnect.control.plane import ControlPlane
        from airflow_kconnect.control.stores import ControlStores

        plane = ControlPlane(props, ControlStores(props))
        console = Console(stderr=as_json)
        try:
            plane.read_to_end()
            planned = applying.changes(plane, connectors, prune=prune)
            console.print(_table(planned))
            if not dry_run:
                applying.apply(plane, planned, lambda change: None)
        finally:
            plane.close()
    console.print(Text(_summary(planned, dry_run)))
    if as_json:
        typer.echo(json.dumps({"dry_run": dry_run, "connectors": [change.as_dict() for change in planned]}))


def _read(path: Path, prune: bool) -> dict[str, ConnectorFile]:
    """The connectors by name. :raises ConfigError: all errors, by file."""
    if prune and not path.is_dir():
        raise ConfigError({"--prune": [f"{path} is not a folder: only a folder can say which connectors there are"]})
    connectors, errors = read_files(connector_files(path) if path.is_dir() else [path])
    if errors:
        raise ConfigError(errors)
    if not connectors:
        what = "all connectors would be deleted" if prune else "nothing to register"
        raise ConfigError({"--filename": [f"{path} has no connector files (.json, .yaml, .properties): {what}"]})
    return connectors


def _table(changes: Sequence[Change]) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("Connector", "Change", "Keys"):
        table.add_column(column, overflow="fold")
    for change in changes:
        keys = "\n".join(_key(key, before, after) for key, (before, after) in change.keys.items())
        table.add_row(Text(change.name), Text(change.action.value, style=_STYLES[change.action.value]), Text(keys))
    return table


def _key(key: str, before: str | None, after: str | None) -> str:
    if before is None:
        return f"+ {key}={after}"
    if after is None:
        return f"- {key}={before}"
    return f"~ {key}: {before} -> {after}" if before != after else f"~ {key}: {after}, another value"


def _summary(changes: Sequence[Change], dry_run: bool) -> str:
    counts = Counter(change.action.value for change in changes)
    text = ", ".join(f"{counts[action]} {action}" for action in _STYLES if counts[action])
    return f"Dry run: {text}; nothing was written." if dry_run else f"{text}."
