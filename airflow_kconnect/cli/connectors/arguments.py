"""Arguments and options that several commands have, and how connector files and answers are written."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from airflow_kconnect.cli.connectors.completion import connector_names
from airflow_kconnect.cli.console import Console, clean, json_line
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.submit.folder import connector_files
from airflow_kconnect.submit.preflight import connector_config

Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Name of the connector.", show_default=False, autocompletion=connector_names),
]
NameOrFile = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE",
        help="Name of the connector, or its file (.json, .yaml or .properties).",
        show_default=False,
        autocompletion=connector_names,
    ),
]
NamesOrFiles = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME|FILE]...",
        help="Names of connectors, or their files (.json, .yaml or .properties).",
        show_default=False,
        autocompletion=connector_names,
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option("--folder", metavar="DIR", help="The connectors of all files in a folder.", show_default=False),
]
ConnectorFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="The connector: Connect's JSON with or without the outer `name` and `config`, .yaml or .properties; "
        "`-` reads JSON from standard input.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON line on stdout.")]

_STATES = {"RUNNING": "green", "PAUSED": "yellow", "STOPPED": "yellow", "FAILED": "bold red", "RESTARTING": "cyan"}


def folder_files(folder: Path | None) -> list[str]:
    """The files of connectors in a folder; without one there are none. :raises ConfigError: it has none."""
    if folder is None:
        return []
    if not folder.is_dir():
        raise ConfigError({"--folder": [f"is not a folder: {folder}"]})
    if not (files := connector_files(folder)):
        raise ConfigError({"--folder": [f"has no connector files (.json, .yaml, .properties): {folder}"]})
    return [str(file) for file in files]


def read_connector(file: str) -> tuple[str, dict[str, Any]]:
    """Name and configuration of a connector in a file or on standard input.

    :raises ConfigError: it cannot be read, or has no name.
    """
    if file == "-":
        text = sys.stdin.read().strip()
        if not text.startswith("{"):
            raise ConfigError({"FILE": ["standard input is not the JSON object of a connector"]})
        config = connector_config(text)
    else:
        config = connector_config(Path(file))
    name = str(config.get("name") or "").strip()
    if not name:
        raise ConfigError({"name": ['Missing required configuration "name" which has no default value.']})
    return name, config


def print_json(answer: Any) -> None:
    """One line on standard output."""
    typer.echo(json_line(answer))


def say(message: str, as_json: bool) -> None:
    """A message about what was done."""
    if as_json:
        print_json({"message": message})
    else:
        typer.echo(clean(message))


def plain_table(*columns: str) -> Table:
    """A table without lines, as all commands show them."""
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def state_text(state: str) -> Text:
    """A state in its colour."""
    return Text(state, style=_STATES.get(state, ""))


def print_texts(lines: Iterable[str], empty: str) -> None:
    """A line each, or the text for none."""
    console, none = Console(), True
    for line in lines:
        none = False
        console.print(Text(line), soft_wrap=True)
    if none:
        console.print(Text(empty), soft_wrap=True)
