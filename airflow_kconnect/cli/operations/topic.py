"""`kconnect topic`: which topics there are, and their records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from airflow_kconnect.cli.connectors.arguments import AsJson, plain_table, print_json
from airflow_kconnect.cli.connectors.completion import topic_names
from airflow_kconnect.cli.console import Console, json_line
from airflow_kconnect.cli.errors import errors_shown
from airflow_kconnect.cli.kafka import clients_of, worker_of
from airflow_kconnect.cli.operations.producing import produce
from airflow_kconnect.cli.worker import Servers, WorkerFile
from airflow_kconnect.worker_config.keys import internal_topics_of

if TYPE_CHECKING:
    from airflow_kconnect.kafka.tail import SeenRecord

app = typer.Typer(no_args_is_help=True)

_LAST = 10


@app.callback()
def main() -> None:
    """List topics, look at their records, and write some."""


@app.command("list")
def list_(
    everything: Annotated[
        bool, typer.Option("--all", help="Also Kafka's own topics, and those of the worker.")
    ] = False,
    worker: WorkerFile = None,
    bootstrap_servers: Servers = None,
    as_json: AsJson = False,
) -> None:
    """List the topics: partitions, and how many records each holds.

    Example: kconnect topic list

    Records are counted in offsets, as everywhere in Kafka: markers of transactions, and what was compacted, are among
    them. Topics whose names begin with `__`, and those in which the worker keeps configurations, offsets and statuses,
    need --all.
    """
    with errors_shown(), worker_of(worker, bootstrap_servers) as known:
        from airflow_kconnect.kafka.admin import KafkaAdmin
        from airflow_kconnect.kafka.clients import ClientConfigs
        from airflow_kconnect.kafka.topic_sizes import topic_sizes

        internal = internal_topics_of(known)
        admin = KafkaAdmin(ClientConfigs(known.props, name="topic-list").admin())
        sizes = topic_sizes(admin, lambda name: everything or not (name.startswith("__") or name in internal))
    if as_json:
        print_json({"topics": [asdict(size) for size in sizes]})
    elif not sizes:
        typer.echo("There are no topics." if everything else "There are no topics but internal ones (--all).")
    else:
        table = plain_table("Topic", "Partitions", "Records")
        for size in sizes:
            table.add_row(Text(size.topic), f"{size.partitions:,}", f"{size.records:,}")
        Console().print(table)


@app.command()
def tail(
    topic: Annotated[
        str,
        typer.Argument(metavar="TOPIC", help="Name of the topic.", show_default=False, autocompletion=topic_names),
    ],
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="The first records instead of the last ones.")
    ] = False,
    max_records: Annotated[
        int | None,
        typer.Option(
            "--max",
            "-n",
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
        typer.Option(
            "--json",
            help="Print each record as a line of JSON, as `kconnect preview --input` and `kconnect topic produce "
            "--json` read it.",
        ),
    ] = False,
) -> None:
    """Show the last records of a topic, or the first ones, and end.

    Example: kconnect topic tail orders --from-beginning --max 5

    Committed records are shown, up to where the topic ends now: the last ones by time, the first ones partition by
    partition. Keys, values and headers are shown as text. No consumer group is used, and no offset is moved.
    """
    with errors_shown(), clients_of(worker, bootstrap_servers, "topic-tail") as (clients, admin):
        from airflow_kconnect.kafka.tail import TopicTail, lossless, readable

        text = lossless if as_json else readable
        topic_tail = TopicTail(admin, clients.consumer("kconnect-topic-tail"), topic, text)
        _show(topic_tail.first(max_records) if from_beginning else topic_tail.last(max_records or _LAST), as_json)


app.command()(produce)


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
