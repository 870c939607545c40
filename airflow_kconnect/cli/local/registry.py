"""`kconnect registry`: a schema registry on this machine, for development and for trying things out."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from airflow_kconnect.cli.errors import errors_in_one_line
from airflow_kconnect.cli.local.broker import home_folder
from airflow_kconnect.local.registry import DEFAULT_PORT, LocalRegistry, RegistryStatus
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


@app.command()
def start(
    data: Data = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the registry.")] = DEFAULT_PORT,
    heap_mb: Annotated[int, typer.Option(min=128, help="Java heap in MB.")] = 400,
) -> None:
    """Start the registry in the background and return when it answers.

    The first start downloads Apicurio Registry (109 MB) into a cache; Java 17 or newer must be installed. A registry
    that runs already is left as it is. Schemas stay in the data folder.
    """
    with errors_in_one_line(), ProgressLine(sys.stderr) as progress:
        status = LocalRegistry(data or default_data(), port=port, heap_mb=heap_mb, progress=progress).start()
    typer.echo(_sentence(status))
    if status.note:
        typer.echo(status.note, err=True)
    typer.echo(f"For converters: value.converter.schema.registry.url={status.url}")


@app.command()
def stop(data: Data = None) -> None:
    """Stop the registry; its schemas stay in the data folder."""
    folder = data or default_data()
    with errors_in_one_line():
        stopped = LocalRegistry(folder).stop()
    typer.echo(f"The registry of {folder} has stopped." if stopped else f"No registry runs in {folder}.")


@app.command()
def status(
    data: Data = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a sentence.")] = False,
) -> None:
    """Say whether the registry runs, and where. The exit code is 3 if it does not."""
    with errors_in_one_line():
        found = LocalRegistry(data or default_data()).status()
    typer.echo(json.dumps(asdict(found), default=str) if as_json else _sentence(found))
    if found.state != "running":
        raise typer.Exit(3)


def default_data() -> Path:
    """The data folder if none is named."""
    return home_folder() / "registry"


def _sentence(status: RegistryStatus) -> str:
    if status.state == "running":
        return f"Apicurio Registry {status.version} runs at {status.url} (pid {status.pid}, data in {status.data})."
    if status.state == "starting":
        return f"The registry's process {status.pid} is there, but does not answer at {status.url}."
    return f"No registry runs in {status.data}."
