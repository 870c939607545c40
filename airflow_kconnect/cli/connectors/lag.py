"""`kconnect lag`: what a sink still has to read."""

from __future__ import annotations

import typer
from rich.text import Text

from airflow_kconnect.cli.connectors.api import Connectors
from airflow_kconnect.cli.connectors.arguments import AsJson, NameOrFile, plain_table, print_json
from airflow_kconnect.cli.connectors.command import on_connectors
from airflow_kconnect.cli.console import Console


@on_connectors
def lag(connectors: Connectors, connector: NameOrFile, as_json: AsJson = False) -> None:
    """Show what a sink still has to read: records and, where known, seconds.

    Examples: `kconnect lag orders-sink`, `kconnect lag orders-sink.json --json`

    It needs Kafka itself: a REST API does not know it. A connector that is not registered, and has not run yet, is
    given by its file.
    """
    facts = connectors.lag(connector)
    if as_json:
        print_json(facts)
        return
    table = plain_table("Topic", "Records")
    for topic, records in sorted(facts["topics"].items()):
        table.add_row(Text(topic), f"{records:,}")
    Console().print(table)
    seconds = "" if facts["seconds"] is None else f"; the oldest of them is {facts['seconds']:,.0f} s old"
    typer.echo(f"Sink {facts['connector']} has {facts['records']:,} records to read{seconds}.")
