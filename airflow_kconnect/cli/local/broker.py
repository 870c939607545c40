"""`kconnect broker`: a Kafka broker on this machine, for development and for trying things out."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from airflow_kconnect.cli.errors import errors_in_one_line
from airflow_kconnect.local.broker import DEFAULT_PORT, BrokerStatus, EmbeddedBroker
from airflow_kconnect.machine.cache import expanded
from airflow_kconnect.machine.progress import ProgressLine

app = typer.Typer(
    no_args_is_help=True,
    help="Run Apache Kafka on this machine: one node on the loopback address, for development and tests.",
)

Data = Annotated[
    Path | None,
    typer.Option(
        help="Folder for topics, settings and log. Default: $KCONNECT_HOME/broker, or ~/.airflow_kconnect/broker.",
        show_default=False,
    ),
]


@app.command()
def start(
    data: Data = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the broker.")] = DEFAULT_PORT,
    heap_mb: Annotated[int, typer.Option(min=128, help="Java heap in MB.")] = 512,
) -> None:
    """Start the broker in the background and return when it answers.

    The first start downloads Kafka (44 MB) into a cache; Java 17 or newer must be installed. A broker that runs
    already is left as it is. The data folder gets a worker.properties for `kconnect run --worker`.
    """
    with errors_in_one_line(), ProgressLine(sys.stderr) as progress:
        broker = EmbeddedBroker(data or default_data(), port=port, heap_mb=heap_mb, progress=progress)
        status = broker.start()
    typer.echo(_sentence(status))
    if status.note:
        typer.echo(status.note, err=True)
    typer.echo(f"Worker file: {broker.worker_properties}")


@app.command()
def stop(data: Data = None) -> None:
    """Stop the broker; its topics stay in the data folder."""
    folder = data or default_data()
    with errors_in_one_line():
        stopped = EmbeddedBroker(folder).stop()
    typer.echo(f"The broker of {folder} has stopped." if stopped else f"No broker runs in {folder}.")


@app.command()
def status(
    data: Data = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a sentence.")] = False,
) -> None:
    """Say whether the broker runs, and where. The exit code is 3 if it does not."""
    with errors_in_one_line():
        found = EmbeddedBroker(data or default_data()).status()
    typer.echo(json.dumps(asdict(found), default=str) if as_json else _sentence(found))
    if found.state != "running":
        raise typer.Exit(3)


def default_data() -> Path:
    """The data folder if none is named."""
    return home_folder() / "broker"


def home_folder() -> Path:
    """Where commands keep what is theirs: `$KCONNECT_HOME`, or `~/.airflow_kconnect`."""
    return expanded(os.environ.get("KCONNECT_HOME") or "~/.airflow_kconnect")


def _sentence(status: BrokerStatus) -> str:
    if status.state == "running":
        return f"Kafka {status.version} runs at {status.bootstrap} (pid {status.pid}, data in {status.data})."
    if status.state == "starting":
        return f"Kafka's process {status.pid} is there, but does not answer at {status.bootstrap}."
    return f"No broker runs in {status.data}."
