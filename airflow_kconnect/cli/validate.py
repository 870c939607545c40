"""`kconnect validate`: all errors of a connector's configuration, before it is put to use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from airflow_kconnect.cli.run_display import show_error
from airflow_kconnect.cli.worker import WorkerFile, worker_config
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.run import EXIT_CONFIG_OR_DATA
from airflow_kconnect.submit.operations import validated
from airflow_kconnect.submit.preflight import connector_config

# Nothing is connected to; only that there is such a key matters.
_NO_WORKER = {"bootstrap.servers": "localhost:9092"}


def validate(
    connector: Annotated[
        Path, typer.Argument(metavar="CONNECTOR_FILE", help="The connector's file.", show_default=False)
    ],
    worker: WorkerFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON line on stdout.")] = False,
) -> None:
    """Check a connector's configuration and show all errors at once. Nothing is connected to.

    Example: kconnect validate orders.json

    Values with variables such as `${file:...}`, and what depends on them, are checked when the connector runs. The
    worker file matters for override policies and the converters of connectors that name none.

    Exit codes: 0 valid, maybe with warnings; 1 invalid.
    """
    console = Console(stderr=as_json)
    try:
        found = validated(connector_config(connector), _NO_WORKER if worker is None else worker_config(worker, None))
    except ConfigError as error:
        show_error(console, {"error": "ConfigError", "message": str(error), "errors": error.errors}, ())
        if as_json:
            typer.echo(json.dumps({"errors": error.errors}))
        raise typer.Exit(EXIT_CONFIG_OR_DATA) from error
    for warning in found["warnings"]:
        console.print(Text.assemble(("Warning: ", "yellow"), warning))
    console.print(Text(f"Connector {found['connector']} ({found['kind']}) is valid."))
    if as_json:
        typer.echo(json.dumps(found))
