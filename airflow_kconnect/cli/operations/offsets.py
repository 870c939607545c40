"""`kconnect offsets`: committed offsets of connectors, shown, altered and reset as by Connect's REST API."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from airflow_kconnect.cli.errors import errors_shown
from airflow_kconnect.cli.worker import Servers, WorkerFile, resolved, worker_config
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.submit.operations import alter_offsets, is_name, reset_offsets, show_offsets
from airflow_kconnect.submit.preflight import connector_config

app = typer.Typer(help="Show, alter and reset the committed offsets of a connector.", no_args_is_help=True)

ConnectorFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="The connector's file. Its configuration is needed: the connector is asked, and its tasks are fenced.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON in the shape of Connect's REST API.")]


@app.command()
def show(
    connector: Annotated[
        str,
        typer.Argument(metavar="NAME|FILE", help="Name of the connector, or its file.", show_default=False),
    ],
    worker: WorkerFile = None,
    bootstrap_servers: Servers = None,
    as_json: AsJson = False,
) -> None:
    """Show where a connector is: the offsets from which its next run resumes.

    Example: kconnect offsets show orders.json --json > offsets.json

    Of a source these are its records in the offset topic, of a sink the offsets of its consumer group. By name alone a
    connector is not found that has an offset topic (`offsets.storage.topic`) or a consumer group of its own.
    """
    with errors_shown():
        config = {} if is_name(connector) else connector_config(connector)
        with resolved(config, worker_config(worker, bootstrap_servers)) as (known, keys):
            offsets = show_offsets(known or connector, keys)
    if as_json:
        typer.echo(json.dumps({"offsets": offsets}, ensure_ascii=False))
    elif not offsets:
        typer.echo("No offsets are committed.")
    else:
        for entry in offsets:
            typer.echo(f"{_compact(entry['partition'])} -> {_compact(entry['offset'])}")


@app.command()
def alter(
    connector: ConnectorFile,
    request: Annotated[
        Path,
        typer.Argument(
            metavar="OFFSETS_FILE",
            help='JSON, {"offsets": [{"partition": {...}, "offset": {...}}]}, as `kconnect offsets show --json` '
            "prints it. `-` reads standard input.",
            show_default=False,
        ),
    ],
    worker: WorkerFile = None,
    bootstrap_servers: Servers = None,
    as_json: AsJson = False,
) -> None:
    """Replace committed offsets. The connector must be stopped.

    Example: kconnect stop orders.json && kconnect offsets alter orders.json offsets.json && kconnect resume orders.json

    Partitions that the file does not name keep their offsets; `"offset": null` resets a partition. If one entry
    is wrong, none is altered. A run in progress is fenced; one that has not finished its plan must be finished,
    or reset, first.
    """
    with errors_shown():
        wanted = _request(request)
        with resolved(connector_config(connector), worker_config(worker, bootstrap_servers)) as (config, keys):
            message = alter_offsets(config, keys, wanted)
    _say(message, as_json)


@app.command()
def reset(
    connector: ConnectorFile, worker: WorkerFile = None, bootstrap_servers: Servers = None, as_json: AsJson = False
) -> None:
    """Forget all offsets of a connector: its next run starts from the beginning. The connector must be stopped.

    Example: kconnect stop orders.json && kconnect offsets reset orders.json && kconnect resume orders.json

    The plan of a run that did not finish is given up; what it has written stays in the topics.
    """
    with errors_shown(), resolved(connector_config(connector), worker_config(worker, bootstrap_servers)) as found:
        message = reset_offsets(*found)
    _say(message, as_json)


def _request(file: Path) -> Any:
    try:
        return json.loads(sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError({"offsets": [f"cannot read {file}: {error.strerror}"]}) from None
    except ValueError as error:
        raise ConfigError({"offsets": [f"{file} is not JSON: {error}"]}) from None


def _say(message: str, as_json: bool) -> None:
    typer.echo(json.dumps({"message": message}) if as_json else message)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
