"""`kconnect preview`: what a connector's converters and transformations make of some records."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from airflow_kconnect.connect.connector_config import load_connector_file
from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, InternalError
from airflow_kconnect.connect.run import EXIT_OK

Record = dict[str, Any]

EXIT_CONFIG = 1
_PARTS = ("topic", "partition", "timestamp", "key", "value", "headers")


def preview(
    config: Annotated[
        Path, typer.Option(help="The connector: Connect's JSON or .properties.", show_default=False, metavar="FILE")
    ],
    records: Annotated[
        Path,
        typer.Option(
            "--input",
            help="Records, one JSON object per line: topic, partition, offset, timestamp, key, value, headers. "
            "`-` reads standard input.",
            show_default=False,
            metavar="FILE",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print answers as JSON lines, also on a terminal.")] = False,
) -> None:
    """Show what a connector's converters and transformations make of records. No Kafka is needed.

    Example: kconnect preview --config orders.json --input records.jsonl

    Key, value and header values are strings or null, as they lie in Kafka. Keys `preview.output.value.converter`
    (and so on) of the configuration choose other converters for the answer. On a terminal the records are shown
    before and after; else each answer is a line of JSON: the record, {"dropped": true}, or {"error": ...}.

    Exit codes: 0 done, whatever became of the records; 1 configuration or input are wrong; 5 a bug.
    """
    console = Console()
    try:
        before = list(_read(records))
        answers = _ask(load_connector_file(config), before)
    except ConfigError as error:
        sys.stdout.write(json.dumps(error.errors, ensure_ascii=False) + "\n")
        raise typer.Exit(EXIT_CONFIG) from error
    except ConnectError as error:
        Console(stderr=True).print(f"[red]Error:[/] {error}", highlight=False)
        raise typer.Exit(error.exit_code) from error
    if console.is_terminal and not as_json:
        console.print(_table(before, answers))
    else:
        for answer in answers:
            sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")
    raise typer.Exit(EXIT_OK)


def _read(file: Path) -> Iterator[Record]:
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
            raise DataError(f"{file}, line {number}: no JSON: {error}") from error
        if not isinstance(record, dict):
            raise DataError(f"{file}, line {number}: a record is a JSON object, with `key`, `value` and so on")
        yield record


def _ask(config: Record, records: list[Record]) -> list[Record]:
    """Have another process answer: this one does not load Spark."""
    command = [sys.executable, "-m", "airflow_kconnect.runtime.preview"]
    request = json.dumps({"config": config, "records": records})
    done = subprocess.run(command, input=request, capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode == 0:
        return answers
    failure = answers[-1] if answers else {}
    if "config_errors" in failure:
        raise ConfigError(failure["config_errors"])
    if "data_error" in failure:
        raise DataError(failure["data_error"])
    raise InternalError(f"the preview failed: {done.stderr[-2000:]}")


def _table(before: list[Record], answers: list[Record]) -> Table:
    table = Table("", "before", "after", show_lines=True, expand=True)
    table.columns[1].ratio = table.columns[2].ratio = 1
    for number, (record, answer) in enumerate(zip(before, answers, strict=True), start=1):
        table.add_row(str(number), _shown(record, answer), _outcome(record, answer))
    return table


def _outcome(record: Record, answer: Record) -> Any:
    if answer.get("dropped"):
        return "[yellow]dropped"
    if error := answer.get("error"):
        return f"[red]{error['stage']}[/]: {error['message']}"
    return _shown(answer, record)


def _shown(record: Record, other: Record) -> Syntax:
    """The parts that differ from the other record, and always the value."""
    shown = {p: record.get(p) for p in _PARTS if p == "value" or record.get(p) != other.get(p)}
    return Syntax(json.dumps({p: _opened(v) for p, v in shown.items()}, indent=1, ensure_ascii=False), "json")


def _opened(value: Any) -> Any:
    """A text that is JSON as data, which is easier to read."""
    if isinstance(value, list):
        return [{"key": header["key"], "value": _opened(header["value"])} for header in value]
    if not isinstance(value, str):
        return value
    try:
        data = json.loads(value)
    except ValueError:
        return value
    return data["payload"] if isinstance(data, dict) and data.keys() == {"schema", "payload"} else data
