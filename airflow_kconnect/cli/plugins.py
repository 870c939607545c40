"""`kconnect plugins`: the connectors, converters, transformations and predicates that are installed."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from airflow_kconnect.connect import plugins as known
from airflow_kconnect.connect.plugins import PluginInfo


class Kind(StrEnum):
    """Kinds of plugins, as the command line names them."""

    CONNECTOR = "connector"
    CONVERTER = "converter"
    TRANSFORMATION = "transformation"
    PREDICATE = "predicate"


_GROUPS = {
    Kind.CONNECTOR: known.CONNECTORS,
    Kind.CONVERTER: known.CONVERTERS,
    Kind.TRANSFORMATION: known.TRANSFORMS,
    Kind.PREDICATE: known.PREDICATES,
}


def plugins(
    kind: Annotated[Kind | None, typer.Option(help="Only plugins of this kind.", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON line on stdout.")] = False,
) -> None:
    """List the classes that configurations can name: kind, class, version.

    Example: kconnect plugins --kind converter

    `kconnect reference CLASS` prints the keys of one. A class that is installed and cannot be imported is listed with
    its error, and the exit code is 1.
    """
    found = [(each, info) for each in Kind if kind in (None, each) for info in known.registry().listing(_GROUPS[each])]
    if as_json:
        lines = [asdict(info) | {"kind": info.kind or each.value} for each, info in found]
        typer.echo(json.dumps({"plugins": [{"class": line.pop("name"), **line} for line in lines]}))
    else:
        _show(found)
    if any(info.error for _, info in found):
        raise typer.Exit(1)


def _show(found: list[tuple[Kind, PluginInfo]]) -> None:
    table = Table(box=None, pad_edge=False)
    for column in ("Kind", "Class", "Version"):
        table.add_column(column, overflow="fold")
    for kind, info in found:
        name = f"{info.kind} {kind}" if info.kind else kind.value
        version = Text(info.error, style="red") if info.error else Text(info.version or "")
        table.add_row(name, Text(info.name), version)
    Console().print(table)
