"""`kconnect pause`, `resume` and `stop`: target states of connectors, in Connect's words."""

from __future__ import annotations

from typing import Annotated

import typer

from airflow_kconnect.cli.connectors.api import Connectors
from airflow_kconnect.cli.connectors.arguments import AsJson, NameOrFile, print_json
from airflow_kconnect.cli.connectors.command import on_connectors
from airflow_kconnect.submit.operations import PAUSED, STARTED, STOPPED, connector_name

_SAID = {PAUSED: "paused", STOPPED: "stopped", STARTED: "resumed"}

Force = Annotated[
    bool,
    typer.Option("--force", help="Also if nothing is known of a connector of this name: before its first run."),
]


@on_connectors
def pause(connectors: Connectors, connector: NameOrFile, force: Force = False, as_json: AsJson = False) -> None:
    """Pause a connector: its next runs, in Airflow or here, do nothing.

    Example: kconnect pause orders-source

    A run in progress is not ended. Replays and dry runs are not affected. The state is in the worker's
    `config.storage.topic`, where Connect keeps it.
    """
    _set(connectors, connector, PAUSED, force, as_json)


@on_connectors
def resume(connectors: Connectors, connector: NameOrFile, force: Force = False, as_json: AsJson = False) -> None:
    """Resume a connector that was paused or stopped: its next run resumes from the committed offsets.

    Example: kconnect resume orders-source
    """
    _set(connectors, connector, STARTED, force, as_json)


@on_connectors
def stop(connectors: Connectors, connector: NameOrFile, force: Force = False, as_json: AsJson = False) -> None:
    """Stop a connector: as if paused, and its offsets may be altered and reset (`kconnect offsets --help`).

    Example: kconnect stop orders-source
    """
    _set(connectors, connector, STOPPED, force, as_json)


def _set(connectors: Connectors, connector: str, state: str, force: bool, as_json: bool) -> None:
    name = connector_name(connector)
    connectors.set_target_state(connector, state, force=force)
    if as_json:
        print_json({"name": name, "state": state})
    else:
        typer.echo(f"Connector {name} is {_SAID[state]}.")
