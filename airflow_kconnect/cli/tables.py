"""`kconnect tables`: looks after the lake tables of a sink."""

from __future__ import annotations

from typing import Annotated

import typer

from airflow_kconnect.cli.connectors.arguments import NameOrFile
from airflow_kconnect.cli.running.options import RunOptions
from airflow_kconnect.cli.running.single import run_once
from airflow_kconnect.cli.worker import Master, Servers, SparkSettings, WorkerFile
from airflow_kconnect.connect.connector.upkeep import KEEP_DAYS, STEPS, WAIT_S, Step, Upkeep

app = typer.Typer(help="Look after the lake tables of a sink.", no_args_is_help=True)


@app.callback()
def _tables() -> None:
    """Look after the lake tables of a sink."""


@app.command()
def maintain(
    connector: NameOrFile,
    table: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TABLE",
            help="Only this one; may be repeated. Else all tables to which the connector has written.",
            show_default=False,
        ),
    ] = None,
    step: Annotated[
        list[Step] | None,
        typer.Option(help="Only this step; may be repeated. Else all but `orphans`.", show_default=False),
    ] = None,
    keep_days: Annotated[
        float, typer.Option(min=0, help="How old what is removed has to be: readers may use what is younger.")
    ] = KEEP_DAYS,
    wait: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="How long to wait for a run of the connector to end.")
    ] = WAIT_S,
    worker: WorkerFile = None,
    bootstrap_servers: Servers = None,
    master: Master = "local[*]",
    conf: SparkSettings = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report as one JSON line on stdout, everything else on stderr.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the job's whole log.")] = False,
) -> None:
    """Compact the tables of a sink, expire their snapshots, and remove files that no one needs.

    Examples: `kconnect tables maintain orders.json --dry-run`, `kconnect tables maintain orders --step compact`

    The tables are those of Iceberg and Delta Lake to which the connector has written; its configuration names the
    catalog. This waits until no run of the connector is in progress. Whatever a run needs stays: what an unfinished
    plan has announced or staged, and the snapshot that proves which plans a table has.

    Exit codes are those of `kconnect run`.
    """
    steps = [each.value for each in step] if step else list(STEPS)
    upkeep = Upkeep(steps, table or [], keep_days, wait)
    options = RunOptions(worker, bootstrap_servers, master, conf or (), as_json=as_json, verbose=verbose,
                         dry_run=dry_run, upkeep=upkeep)  # fmt: skip
    run_once(connector, options)
