"""`kconnect preview`: what a connector's converters and transformations make of some records."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from airflow_kconnect.cli.preview_table import preview_table
from airflow_kconnect.cli.run_display import show_error
from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError
from airflow_kconnect.connect.run import EXIT_OK
from airflow_kconnect.connect.validation.connector import load_connector_file
from airflow_kconnect.submit.previewing import previewed

EXIT_CONFIG = 1


def preview(
    connector: Annotated[
        Path | None,
        typer.Argument(
            metavar="CONNECTOR_FILE", help="The connector: Connect's JSON or .properties.", show_default=False
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
    config: Annotated[Path | None, typer.Option(help="The same as CONNECTOR_FILE.", hidden=True)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print answers as JSON lines, also on a terminal.")] = False,
) -> None:
    """Show what a connector's converters and transformations make of records. No Kafka is needed.

    Example: kconnect preview orders.json --input records.jsonl

    Key, value and header values are strings or null, as they are in Kafka. Keys `preview.output.value.converter`
    (and so on) of the configuration choose other converters for the answer. On a terminal the records are shown
    before and after; else each answer is a line of JSON: the record, {"dropped": true}, or {"error": ...}.

    Exit codes: 0 done, whatever happened to the records; 1 configuration or input are wrong; 5 a bug.
    """
    file = connector or config
    if file is None or records is None:
        missing = "CONNECTOR_FILE" if file is None else "--input"
        raise typer.BadParameter("is missing", param_hint=missing)
    console = Console()
    try:
        before = list(_read(records))
        answers = previewed(load_connector_file(file), before)
    except ConfigError as error:
        if console.is_terminal and not as_json:
            show_error(console, {"error": "ConfigError", "message": str(error), "errors": error.errors}, ())
            raise typer.Exit(EXIT_CONFIG) from error
        sys.stdout.write(json.dumps(error.errors, ensure_ascii=False) + "\n")
        raise typer.Exit(EXIT_CONFIG) from error
    except ConnectError as error:
        Console(stderr=True).print(f"[red]Error:[/] {escape(str(error))}", highlight=False)
        raise typer.Exit(error.exit_code) from error
    if console.is_terminal and not as_json:
        console.print(preview_table(before, answers))
    else:
        for answer in answers:
            sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")
    raise typer.Exit(EXIT_OK)


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
