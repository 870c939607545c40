"""`kconnect plugins install` and `kconnect plugins remove`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from airflow_kconnect.cli.connectors.arguments import AsJson, print_json, say
from airflow_kconnect.cli.errors import errors_in_one_line
from airflow_kconnect.cli.plugins.places import WorkerFile, java_plugins
from airflow_kconnect.hosted.installing.install import Installed
from airflow_kconnect.hosted.installing.install import install as install_plugin
from airflow_kconnect.hosted.installing.install import remove as remove_plugin
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.machine.progress import ProgressLine
from airflow_kconnect.plugins.java import JavaPlugin, JavaPlugins

_SHOWN = 8

Into = Annotated[
    Path | None,
    typer.Option(
        help="Folder of plug-ins. Default: the first of the worker's `plugin.path`.",
        file_okay=False,
        show_default=False,
    ),
]


def install(
    plugin: Annotated[
        str,
        typer.Argument(
            metavar="PLUGIN",
            help="Maven coordinates (group:artifact:version); or an archive (.zip, .tar.gz) of a vendor, a folder with "
            "jars, a jar.",
            show_default=False,
        ),
    ],
    into: Into = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a folder of the same name.")] = False,
    worker: WorkerFile = None,
    as_json: AsJson = False,
) -> None:
    """Install a Java plug-in: a folder of its own below `plugin.path`, with what it needs.

    Example: `kconnect plugins install io.debezium:debezium-connector-postgres:3.5.0.Final`

    A plug-in is code: runs execute it with their own rights. Installing executes nothing of it.

    Exit codes: 0 it is installed; 1 it is not a plug-in, unknown, or another one has its folder; 3 the download failed.
    """
    with errors_in_one_line():
        folder = into.absolute() if into else java_plugins(worker).plugin_path[0]
        with ProgressLine(sys.stderr) as progress:
            installed = install_plugin(plugin, folder, replace=replace, progress=progress)
        if as_json:
            print_json(
                {
                    "folder": str(installed.folder),
                    "already": installed.already,
                    "plugins": [{"class": each.name, "kind": each.kind, "version": each.version} for each in
                                installed.plugins],
                }
            )  # fmt: skip
            return
        _show(installed)
        if into is not None and into.absolute() not in java_plugins(worker).plugin_path:
            typer.echo(f"Runs see it if the worker's `plugin.path` names {folder}.")


def remove(
    plugin: Annotated[
        str,
        typer.Argument(
            metavar="PLUGIN", help="Folder of the plug-in, its name, or one of its classes.", show_default=False
        ),
    ],
    worker: WorkerFile = None,
    as_json: AsJson = False,
) -> None:
    """Remove a Java plug-in: its folder below `plugin.path`, with all its classes.

    Exit codes: 0 it is removed; 1 there is none, several are meant, or the folder cannot be changed.
    """
    with errors_in_one_line():
        known = java_plugins(worker)
        folder = _folder(known, plugin)
        remove_plugin(folder)
        say(f"Removed {folder}.", as_json)


def _folder(known: JavaPlugins, plugin: str) -> Path:
    """:raises SetupError: no plug-in is meant, or several are."""
    folders = known.folders()
    matching = [folder for folder in folders if plugin in (str(folder), folder.name)]
    if not matching:
        matching = sorted({found.folder for found in known.all() if _is(found, plugin)})
    if len(matching) == 1:
        return matching[0]
    places = ", ".join(str(element) for element in known.plugin_path)
    if matching:
        raise SetupError(f"{plugin} is in {', '.join(map(str, matching))}: name the folder of one.")
    names = ", ".join(folder.name for folder in folders) or "nothing"
    raise SetupError(f"There is no plug-in {plugin} in {places}, which has: {names}.")


def _is(found: JavaPlugin, text: str) -> bool:
    return text in (found.name, found.name.rpartition(".")[2])


def _show(installed: Installed) -> None:
    verb = "is installed already:" if installed.already else "installed:"
    typer.echo(f"{installed.folder} {verb}")
    for each in installed.plugins[:_SHOWN]:
        typer.echo(f"  {each.kind.replace('_', ' ')} {each.name}" + (f" {each.version}" if each.version else ""))
    if (more := len(installed.plugins) - _SHOWN) > 0:
        typer.echo(f"  and {more} more")
