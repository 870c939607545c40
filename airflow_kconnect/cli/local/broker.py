"""`kconnect broker`: a Kafka broker on this machine, for development and for trying things out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from airflow_kconnect.cli.errors import errors_in_one_line
from airflow_kconnect.cli.local.home import home_folder
from airflow_kconnect.cli.local.server import ServerCommands
from airflow_kconnect.local.broker import DEFAULT_PORT, EmbeddedBroker
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
_COMMANDS = ServerCommands("broker", product="Kafka", owner="Kafka's")


@app.command()
def start(
    data: Data = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the broker.")] = DEFAULT_PORT,
    heap_mb: Annotated[int, typer.Option(min=128, help="Java heap in MB.")] = 512,
) -> None:
    """Start the broker in the background and return when it answers.

    The first start downloads Kafka (44 MB) into a cache; Java 17 or newer must be installed. A broker that is
    already running is left as it is. The data folder gets a worker.properties for `kconnect run --worker`.
    """
    with errors_in_one_line(), ProgressLine(sys.stderr) as progress:
        broker = EmbeddedBroker(data or default_data(), port=port, heap_mb=heap_mb, progress=progress)
        status = broker.start()
    _COMMANDS.show_started(status)
    typer.echo(f"Worker file: {broker.worker_properties}")


@app.command()
def stop(data: Data = None) -> None:
    """Stop the broker; its topics stay in the data folder."""
    _COMMANDS.stop(EmbeddedBroker, data or default_data())


@app.command()
def status(
    data: Data = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a sentence.")] = False,
) -> None:
    """Say whether the broker runs, and where. The exit code is 3 if it does not."""
    with errors_in_one_line():
        broker_status = EmbeddedBroker(data or default_data()).status()
    _COMMANDS.show_status(broker_status, as_json=as_json)


def default_data() -> Path:
    """The data folder if none is named."""
    return home_folder() / "broker"
