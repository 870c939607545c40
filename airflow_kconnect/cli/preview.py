"""`kconnect preview`: what a connector's converters and transformations make of some records."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from airflow_kconnect.cli.connectors.command import on_target, opened
from airflow_kconnect.cli.connectors.completion import connector_names
from airflow_kconnect.cli.connectors.target import Target
from airflow_kconnect.cli.console import Console, json_line
from airflow_kconnect.cli.preview_table import Record, preview_table
from airflow_kconnect.cli.run_display import show_error
from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError
from airflow_kconnect.runs.events import EXIT_OK
from airflow_kconnect.submit.operations import is_name
from airflow_kconnect.submit.previewing import previewed
from airflow_kconnect.validation.connector import load_connector_file

EXIT_CONFIG = 1
MOST_RECORDS = 100


@on_target()
def preview(
    target: Target,
    connector: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME|FILE",
            help="Name of the connector, or its file: Connect's JSON or .properties.",
            show_default=False,
            autocompletion=connector_names,
        ),
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option(
            "--input",
            help="Records, one JSON object per line: topic, partition, offset, timestamp, key, value, headers. "
            "`-` reads standard input.",
            show_default=False,
            metavar="FILE",
        ),
    ] = None,
    most: Annotated[
        int,
        typer.Option("--max", "-n", min=1, max=MOST_RECORDS, metavar="N", help="Without --input: this many records."),
    ] = 10,
    count: Annotated[int | None, typer.Option(min=1, max=MOST_RECORDS, help="The same as --max.", hidden=True)] = None,
    config: Annotated[Path | None, typer.Option(help="The same as FILE.", hidden=True)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print answers as JSON lines, also on a terminal.")] = False,
) -> None:
    """Show what a connector's converters and transformations make of records. Nothing is written, no offset moves.

    Examples: `kconnect preview orders`, `kconnect preview orders.json --input records.jsonl`

    Without --input the records are live ones: the last in the topics of a sink, or those that a source would read next.
    With --input and a file no Kafka is needed; key, value and header values are strings or null, as they are in Kafka,
    and keys `preview.output.value.converter` (and so on) of the configuration choose other converters for the answer.
    On a terminal the records are shown before and after; else each answer is a line of JSON: the record,
    {"dropped": true}, or {"error": ...}.

    Exit codes: 0 done, whatever happened to the records; 1 configuration or input are wrong; 3 something outside is
    unavailable; 5 a bug.
    """
    asked = connector if config is None else str(config)
    if asked is None:
        raise typer.BadParameter("is missing", param_hint="NAME|FILE")
    console = Console()
    try:
        before, answers = _previewed(target, asked, records, count or most)
    except ConfigError as error:
        if console.is_terminal and not as_json:
            show_error(console, {"error": "ConfigError", "message": str(error), "errors": error.errors}, ())
            raise typer.Exit(EXIT_CONFIG) from error
        sys.stdout.write(json_line(error.errors) + "\n")
        raise typer.Exit(EXIT_CONFIG) from error
    except ConnectError as error:
        Console(stderr=True).print(f"[red]Error:[/] {escape(str(error))}", highlight=False)
        raise typer.Exit(error.exit_code) from error
    if not answers:
        typer.echo("There are no new records.", err=True)
    elif console.is_terminal and not as_json:
        console.print(preview_table(before, answers))
    else:
        for answer in answers:
            sys.stdout.write(json_line(answer) + "\n")
    raise typer.Exit(EXIT_OK)


def _previewed(target: Target, asked: str, records: Path | None, most: int) -> tuple[list[Record], list[Record]]:
    """The records before and after."""
    given = None if records is None else list(_read(records))
    if given is not None and not _is_name(asked):
        return given, previewed(load_connector_file(Path(asked)), given)
    with opened(target) as connectors:
        answer = connectors.previewed(asked, {"latest": most} if given is None else {"records": given})
    shown = answer["records"]
    return [each["before"] or each["read"] for each in shown], [[each["read"], *each["after"]][-1] for each in shown]


def _is_name(asked: str) -> bool:
    """A file need not end like one."""
    return is_name(asked) and not Path(asked).is_file()


def _read(file: Path) -> Iterator[dict[str, Any]]:
    """The records. :raises DataError: names file and line."""
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{file} is not UTF-8") from error
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise DataError(f"{file}, line {number}: not JSON: {error}") from error
        if not isinstance(record, dict):
            raise DataError(f"{file}, line {number}: a record is a JSON object, with `key`, `value` and so on")
        yield record
