"""`kconnect lag`: what sinks still have to read."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from airflow_kconnect.cli.connectors.api import Answer, Connectors
from airflow_kconnect.cli.connectors.arguments import AsJson, plain_table, print_json
from airflow_kconnect.cli.connectors.command import on_connectors
from airflow_kconnect.cli.connectors.completion import connector_names
from airflow_kconnect.cli.console import Console


@on_connectors
def lag(
    connectors: Connectors,
    connector: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME|FILE]",
            help="Name of a sink, or its file. Default: all sinks that are registered or have committed offsets.",
            show_default=False,
            autocompletion=connector_names,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a sink still has to read, by topic and, where known, in seconds; or the records of all sinks.

    Examples: `kconnect lag`, `kconnect lag orders-sink`, `kconnect lag orders-sink.json --json`

    It needs Kafka itself: a REST API does not know it. A connector that is not registered, and has not run yet, is
    given by its file. A source has no lag in Kafka: `kconnect status` shows its offsets.
    """
    if connector is None:
        _show_all(connectors.lags(), as_json)
    elif as_json:
        print_json(connectors.lag(connector))
    else:
        _show(connectors.lag(connector))


def _show_all(sinks: list[Answer], as_json: bool) -> None:
    if as_json:
        print_json({"sinks": sinks})
    elif not sinks:
        typer.echo("No sink is registered, and none has committed offsets.")
    else:
        table = plain_table("Sink", "Records")
        for sink in sinks:
            records = sink["records"]
            table.add_row(Text(sink["connector"]), "not known" if records is None else f"{records:,}")
        Console().print(table)


def _show(facts: Answer) -> None:
    if not facts["records"]:
        typer.echo(f"Sink {facts['connector']} has nothing left to read.")
        return
    table = plain_table("Topic", "Records")
    for topic, records in sorted(facts["topics"].items()):
        table.add_row(Text(topic), f"{records:,}")
    Console().print(table)
    seconds = "" if facts["seconds"] is None else f"; the oldest of them is {facts['seconds']:,.0f} s old"
    typer.echo(f"Sink {facts['connector']} has {facts['records']:,} records to read{seconds}.")
