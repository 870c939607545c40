"""`kconnect status`: the connectors of a worker's topics: state, offsets, lag."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from airflow_kconnect.cli.errors import errors_shown
from airflow_kconnect.cli.worker import Servers, WorkerFile, resolved, worker_config
from airflow_kconnect.connect.sink_topics import sink_group
from airflow_kconnect.connect.validation.worker_keys import WorkerConfig
from airflow_kconnect.submit.operations import connector_name, is_name
from airflow_kconnect.submit.preflight import connector_config

if TYPE_CHECKING:
    from airflow_kconnect.stores.watching.overview import ConnectorStatus

_MOST_OFFSETS = 3


def status(
    connectors: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME|FILE]...",
            help="Names of connectors, or their files. Default: all that have a state or committed offsets.",
            show_default=False,
        ),
    ] = None,
    worker: WorkerFile = None,
    bootstrap_servers: Servers = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON line on stdout.")] = False,
) -> None:
    """Show connectors: kind, state, committed offsets, and the lag of sinks in records.

    Examples: `kconnect status`, `kconnect status orders-sink orders-source.json`

    Read from the config topic, the offset topic and the consumer groups `connect-<name>`. A connector with an offset
    topic of its own is not found; one with a consumer group of its own is found by its file.
    """
    with errors_shown(), resolved({}, worker_config(worker, bootstrap_servers)) as (_, keys):
        from airflow_kconnect.stores.watching.overview import overview

        groups = dict(map(_group, connectors)) if connectors else None
        found = overview(WorkerConfig.from_props(keys), groups)
    if as_json:
        typer.echo(json.dumps({"connectors": [asdict(connector) for connector in found]}, ensure_ascii=False))
    elif not found:
        typer.echo("No connector has a state or committed offsets.")
    else:
        Console().print(_table(found))


def _group(connector: str) -> tuple[str, str]:
    name = connector_name(connector)
    props = {} if is_name(connector) else {key: str(value) for key, value in connector_config(connector).items()}
    return name, sink_group({**props, "name": name})


def _table(found: Sequence[ConnectorStatus]) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("Connector", "Kind", "State", "Lag", "Committed offsets"):
        table.add_column(column, overflow="fold")
    for connector in found:
        lag = "" if connector.lag is None else f"{connector.lag:,}"
        table.add_row(
            Text(connector.name), connector.kind or "", connector.state, lag, Text(_offsets(connector.offsets))
        )
    return table


def _offsets(offsets: Sequence[dict[str, object]]) -> str:
    lines = [f"{json.dumps(entry['partition'])} -> {json.dumps(entry['offset'])}" for entry in offsets[:_MOST_OFFSETS]]
    more = len(offsets) - _MOST_OFFSETS
    return "\n".join([*lines, *([f"and {more} more"] if more > 0 else [])]) or "none"
