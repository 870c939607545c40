"""`kconnect plugins`: the connectors, converters, transformations and predicates that are installed, Java's too."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from airflow_kconnect.cli.connectors.api import Answer
from airflow_kconnect.cli.connectors.arguments import AsJson, plain_table, print_json
from airflow_kconnect.cli.connectors.command import on_target
from airflow_kconnect.cli.connectors.target import Target
from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.plugins.places import java_plugins
from airflow_kconnect.plugins import registry as known
from airflow_kconnect.plugins.java import JavaPlugins
from airflow_kconnect.plugins.java.problems import Problem, problems


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


def _unless_subcommand(command: Callable[..., None]) -> Callable[..., None]:
    """A command that lists, and whose name is that of a group too, does nothing where a command of the group runs."""

    @wraps(command)
    def main(context: typer.Context, **given: Any) -> None:
        if context.invoked_subcommand is None:
            command(context, **given)

    main.__signature__ = inspect.signature(command)  # type: ignore[attr-defined]
    return main


@_unless_subcommand
@on_target("bootstrap_servers")
def plugins(
    target: Target,
    kind: Annotated[Kind | None, typer.Option(help="Only plugins of this kind.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """List the classes that configurations can name: kind, class, version, folder of a Java plug-in.

    Examples: `kconnect plugins --kind converter`, `kconnect plugins --server http://connect:8083`

    Those installed here, and in the folders of the worker's `plugin.path`; or those of a server. `kconnect reference
    CLASS` prints the keys of one, `kconnect plugins show CLASS` those of a Java class. A class that is installed and
    cannot be imported is listed with its error, and the exit code is 1.
    """
    rows, found = list[Answer](), list[Problem]()
    if target.server is None:
        java = java_plugins(target.worker)
        rows, found = [*_installed(), *_java(java)], problems(java.plugin_path)
    else:
        rows = list(_of_server(target))
    rows = [line for line in rows if kind in (None, _KINDS.get(line["kind"]))]
    if as_json:
        print_json({"plugins": rows, "problems": [asdict(each) for each in found]})
    else:
        _show(rows)
        for each in found:
            typer.echo(f"Warning: {each}", err=True)
    if any(line["error"] for line in rows):
        raise typer.Exit(1)


def _installed() -> Iterator[Answer]:
    for kind, group in _GROUPS.items():
        for info in known.registry().listing(group):
            yield {
                "class": info.name,
                "kind": info.kind or kind.value,
                "version": info.version,
                "folder": None,
                "error": info.error,
            }


def _java(java: JavaPlugins) -> Iterator[Answer]:
    for each in java.all():
        if each.kind in _KINDS:
            yield {
                "class": each.name,
                "kind": each.kind,
                "version": each.version,
                "folder": str(each.folder),
                "error": None,
            }


def _of_server(target: Target) -> Iterator[Answer]:
    with closing(target.client()) as client:
        for plugin in client.call("GET", "/connector-plugins", connectorsOnly="false"):
            yield {
                "class": plugin["class"],
                "kind": plugin["type"],
                "version": plugin.get("version"),
                "folder": None,
                "error": None,
            }


def _show(rows: list[Answer]) -> None:
    columns = ("Kind", "Class", "Version")
    has_java = any(line["folder"] for line in rows)
    table = plain_table(*columns, *(("Java plug-in",) if has_java else ()))
    for line in rows:
        kind = line["kind"].replace("_", " ")
        name = f"{kind} connector" if _KINDS.get(line["kind"]) is Kind.CONNECTOR else kind
        version = Text(line["error"], style="red") if line["error"] else Text(line["version"] or "")
        place = (Text(Path(line["folder"]).name if line["folder"] else ""),) if has_java else ()
        table.add_row(name, Text(line["class"]), version, *place)
    Console().print(table)
