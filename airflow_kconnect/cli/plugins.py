"""`kconnect plugins`: the connectors, converters, transformations and predicates that are installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from airflow_kconnect.cli.connectors.api import Answer
from airflow_kconnect.cli.connectors.arguments import AsJson, plain_table, print_json
from airflow_kconnect.cli.connectors.command import on_target
from airflow_kconnect.cli.connectors.target import Target
from airflow_kconnect.connect import plugins as known


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
# As servers name them.
_KINDS = {
    **{kind.value: kind for kind in Kind},
    "source": Kind.CONNECTOR,
    "sink": Kind.CONNECTOR,
    "header_converter": Kind.CONVERTER,
}


@on_target("worker", "bootstrap_servers")
def plugins(
    target: Target,
    kind: Annotated[Kind | None, typer.Option(help="Only plugins of this kind.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """List the classes that configurations can name: kind, class, version.

    Examples: `kconnect plugins --kind converter`, `kconnect plugins --server http://connect:8083`

    Those installed here, or those of a server. `kconnect reference CLASS` prints the keys of one. A class that is
    installed and cannot be imported is listed with its error, and the exit code is 1.
    """
    everything = _installed() if target.server is None else _of_server(target)
    rows = [line for line in everything if kind in (None, _KINDS.get(line["kind"]))]
    if as_json:
        print_json({"plugins": rows})
    else:
        _show(rows)
    if any(line["error"] for line in rows):
        raise typer.Exit(1)


def _installed() -> Iterator[Answer]:
    for kind, group in _GROUPS.items():
        for info in known.registry().listing(group):
            yield {"class": info.name, "kind": info.kind or kind.value, "version": info.version, "error": info.error}


def _of_server(target: Target) -> Iterator[Answer]:
    with closing(target.client()) as client:
        for plugin in client.call("GET", "/connector-plugins", connectorsOnly="false"):
            yield {"class": plugin["class"], "kind": plugin["type"], "version": plugin.get("version"), "error": None}


def _show(rows: list[Answer]) -> None:
    table = plain_table("Kind", "Class", "Version")
    for line in rows:
        kind = line["kind"].replace("_", " ")
        name = f"{kind} connector" if _KINDS.get(line["kind"]) is Kind.CONNECTOR else kind
        version = Text(line["error"], style="red") if line["error"] else Text(line["version"] or "")
        table.add_row(name, Text(line["class"]), version)
    Console().print(table)
