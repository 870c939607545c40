"""`kconnect offsets`: committed offsets of connectors, shown, altered and reset as by Connect's REST API."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from airflow_kconnect.cli.connectors.api import Connectors
from airflow_kconnect.cli.connectors.arguments import NameOrFile, print_json, say
from airflow_kconnect.cli.connectors.command import on_connectors
from airflow_kconnect.cli.console import clean
from airflow_kconnect.cli.offset_texts import offset_text
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.positions_text import positions_of, positions_request

app = typer.Typer(help="Show, alter and reset the committed offsets of a connector.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON in the shape of Connect's REST API.")]


@app.command()
@on_connectors
def show(connectors: Connectors, connector: NameOrFile, as_json: AsJson = False) -> None:
    """Show where a connector is: the offsets from which its next run resumes.

    Example: kconnect offsets show orders.json --json > offsets.json

    Of a source these are its records in the offset topic, of a sink the offsets of its consumer group. Of a connector
    that is not registered, and has an offset topic (`offsets.storage.topic`) or a consumer group of its own, give the
    file.
    """
    offsets = connectors.offsets(connector)
    if as_json:
        print_json({"offsets": offsets})
    elif not offsets:
        typer.echo("No offsets are committed.")
    else:
        for entry in offsets:
            typer.echo(clean(offset_text(entry)))


@app.command()
@on_connectors
def alter(
    connectors: Connectors,
    connector: NameOrFile,
    request: Annotated[
        Path | None,
        typer.Argument(
            metavar="OFFSETS_FILE",
            help='JSON, {"offsets": [{"partition": {...}, "offset": {...}}]}, as `kconnect offsets show --json` '
            "prints it. `-` reads standard input.",
            show_default=False,
        ),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOPIC:PARTITION=OFFSET,...",
            help="Of a sink, instead of a file: where it is to resume. May be repeated.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Replace committed offsets. The connector must be stopped.

    Example: kconnect stop orders.json && kconnect offsets alter orders.json offsets.json && kconnect resume orders.json

    Partitions that are not named keep their offsets; `"offset": null` resets a partition. If one entry
    is wrong, none is altered. A run in progress is fenced; one that has not finished its plan must be finished,
    or reset, first. Of a connector that is not registered, the file is needed.
    """
    if (request is None) == (not at):
        raise typer.BadParameter("give either OFFSETS_FILE or --at")
    wanted = _request(request) if request is not None else positions_request(positions_of(at or ()))
    say(connectors.alter_offsets(connector, wanted), as_json)


@app.command()
@on_connectors
def reset(connectors: Connectors, connector: NameOrFile, as_json: AsJson = False) -> None:
    """Forget all offsets of a connector: its next run starts from the beginning. The connector must be stopped.

    Example: kconnect stop orders.json && kconnect offsets reset orders.json && kconnect resume orders.json

    The plan of a run that did not finish is given up; what it has written stays in the topics.
    """
    say(connectors.reset_offsets(connector), as_json)


def _request(file: Path) -> Any:
    try:
        return json.loads(sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError({"offsets": [f"cannot read {file}: {error.strerror}"]}) from None
    except ValueError as error:
        raise ConfigError({"offsets": [f"{file} is not JSON: {error}"]}) from None
