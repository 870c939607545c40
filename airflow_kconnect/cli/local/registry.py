"""`kconnect registry`: a schema registry on this machine, for development and for trying things out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from airflow_kconnect.cli.errors import errors_in_one_line
from airflow_kconnect.cli.local.home import home_folder
from airflow_kconnect.cli.local.server import ServerCommands
from airflow_kconnect.local.registry import DEFAULT_PORT, LocalRegistry
from airflow_kconnect.machine.progress import ProgressLine

app = typer.Typer(
    no_args_is_help=True,
    help="Run a schema registry on this machine: Apicurio with Confluent's REST API, for development and tests.",
)

Data = Annotated[
    Path | None,
    typer.Option(
        help="Folder for schemas and log. Default: $KCONNECT_HOME/registry, or ~/.airflow_kconnect/registry.",
        show_default=False,
    ),
]
_COMMANDS = ServerCommands("registry", product="Apicurio Registry", owner="The registry's")


@app.command()
def start(
    data: Data = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the registry.")] = DEFAULT_PORT,
    heap_mb: Annotated[int, typer.Option(min=128, help="Java heap in MB.")] = 400,
) -> None:
    """Start the registry in the background and return when it answers.

    The first start downloads Apicurio Registry (109 MB) into a cache; Java 17 or newer must be installed. A registry
    that is already running is left as it is. Schemas stay in the data folder.
    """
    with errors_in_one_line(), ProgressLine(sys.stderr) as progress:
        status = LocalRegistry(data or default_data(), port=port, heap_mb=heap_mb, progress=progress).start()
    _COMMANDS.show_started(status)
    typer.echo(f"For converters: value.converter.schema.registry.url={status.url}")


@app.command()
def stop(data: Data = None) -> None:
    """Stop the registry; its schemas stay in the data folder."""
    _COMMANDS.stop(LocalRegistry, data or default_data())


@app.command()
def status(
    data: Data = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a sentence.")] = False,
) -> None:
    """Say whether the registry runs, and where. The exit code is 3 if it does not."""
    with errors_in_one_line():
        registry_status = LocalRegistry(data or default_data()).status()
    _COMMANDS.show_status(registry_status, as_json=as_json)


def default_data() -> Path:
    """The data folder if none is named."""
    return home_folder() / "registry"
