"""`kconnect dlq`: what to do with dead letters."""

from __future__ import annotations

from typing import Annotated

import typer

from airflow_kconnect.cli.connectors.arguments import NameOrFile
from airflow_kconnect.cli.operations.dead_letters import count, list_, show
from airflow_kconnect.cli.running.options import RunOptions
from airflow_kconnect.cli.running.single import run_once
from airflow_kconnect.cli.worker import Master, Servers, SparkSettings, WorkerFile

app = typer.Typer(help="Work with dead letters.", no_args_is_help=True)


@app.callback()
def main() -> None:
    """Work with dead letters: the records that a connector could not convert, transform or write."""


app.command("list")(list_)
app.command()(show)
app.command()(count)


@app.command()
def replay(
    connector: NameOrFile,
    worker: WorkerFile = None,
    bootstrap_servers: Servers = None,
    master: Master = "local[*]",
    conf: SparkSettings = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON line on stdout.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the job's whole log.")] = False,
) -> None:
    """Send a sink's dead letters through it again, once the cause in it or its target is fixed.

    Examples: `kconnect dlq replay orders`, `kconnect dlq replay orders.json`

    The records of `errors.deadletterqueue.topic.name` are read as they were before they failed: with their own
    topic, without the headers that say why. A consumer group of its own, `connect-<name>-dead-letters-<8 digits>`,
    remembers what was replayed; the connector's own offsets do not move. With `errors.tolerance=all` records that fail
    again become dead letters again; with `none` the first of them ends the replay.
    """
    options = RunOptions(
        worker, bootstrap_servers, master, conf or (), as_json=as_json, verbose=verbose, dead_letters=True
    )
    run_once(connector, options)
