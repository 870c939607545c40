"""`kconnect topic`: look at the records of a topic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from airflow_kconnect.cli.console import Console, json_line
from airflow_kconnect.cli.errors import errors_shown
from airflow_kconnect.cli.listening import check_listening
from airflow_kconnect.cli.worker import Servers, WorkerFile, resolved, worker_config

if TYPE_CHECKING:
    from airflow_kconnect.kafka.tail import SeenRecord

app = typer.Typer(no_args_is_help=True)

_LAST = 10


@app.callback()
def main() -> None:
    """Look at the records of a topic."""


@app.command()
def tail(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="Name of the topic.", show_default=False)],
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="The first records instead of the last ones.")
    ] = False,
    max_records: Annotated[
        int | None,
        typer.Option(
            "--max",
            min=1,
            metavar="N",
            help=f"How many records to show. Default: {_LAST}; with --from-beginning all.",
            show_default=False,
        ),
    ] = None,
    worker: WorkerFile = None,
    bootstrap_servers: Servers = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print each record as a line of JSON, as `kconnect preview --input` reads it."),
    ] = False,
) -> None:
    """Show the last records of a topic, or the first ones, and end.

    Example: kconnect topic tail orders --from-beginning --max 5

    Committed records are shown, up to where the topic ends now: the last ones by time, the first ones partition by
    partition. Keys, values and headers are shown as text. No consumer group is used, and no offset is moved.
    """
    with errors_shown(), resolved({}, _listening(worker, bootstrap_servers)) as (_, keys):
        from airflow_kconnect.connect.validation.worker_keys import WorkerConfig
        from airflow_kconnect.kafka.admin import KafkaAdmin
        from airflow_kconnect.kafka.clients import ClientConfigs
        from airflow_kconnect.kafka.tail import TopicTail

        known = WorkerConfig.from_props(keys)
        clients = ClientConfigs(known.props, name="topic-tail")
        topic_tail = TopicTail(KafkaAdmin(clients.admin()), clients.consumer("kconnect-topic-tail"), topic)
        _show(topic_tail.first(max_records) if from_beginning else topic_tail.last(max_records or _LAST), as_json)


def _listening(worker: Path | None, bootstrap_servers: str | None) -> dict[str, str]:
    props = worker_config(worker, bootstrap_servers)
    check_listening(props)
    return props


def _show(records: Iterable[SeenRecord], as_json: bool) -> None:
    console = Console()
    empty = True
    for record in records:
        empty = False
        if as_json:
            typer.echo(json_line(asdict(record)))
        else:
            console.print(_line(record), soft_wrap=True)
    if empty and not as_json:
        console.print("The topic has no records.")


def _line(record: SeenRecord) -> Text:
    time = datetime.fromtimestamp(record.timestamp / 1000, UTC).isoformat(timespec="milliseconds")
    text = Text.assemble((f"{record.topic}-{record.partition}@{record.offset} {time}", "dim"))
    parts = [
        ("key", record.key),
        ("value", record.value),
        *((f"header {h['key']}", h["value"]) for h in record.headers),
    ]
    for name, value in parts:
        text.append(f" {name}=", style="bold")
        text.append("null" if value is None else value)
    return text
