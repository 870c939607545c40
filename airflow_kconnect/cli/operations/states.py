"""`kconnect pause`, `resume` and `stop`: target states of connectors, in Connect's words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from airflow_kconnect.cli.errors import errors_shown
from airflow_kconnect.cli.worker import Servers, WorkerFile, resolved, worker_config
from airflow_kconnect.submit.operations import PAUSED, STARTED, STOPPED, connector_name, set_target_state

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE",
        help="Name of the connector, or its file (.json, .yaml or .properties).",
        show_default=False,
    ),
]


def pause(connector: Name, worker: WorkerFile = None, bootstrap_servers: Servers = None) -> None:
    """Pause a connector: its next runs, in Airflow or here, do nothing.

    Example: kconnect pause orders-source

    A run in progress is not ended. Replays and dry runs are not affected. The state is in the worker's
    `config.storage.topic`, where Connect keeps it.
    """
    _set(connector, PAUSED, worker, bootstrap_servers)


def resume(connector: Name, worker: WorkerFile = None, bootstrap_servers: Servers = None) -> None:
    """Resume a connector that was paused or stopped: its next run resumes from the committed offsets.

    Example: kconnect resume orders-source
    """
    _set(connector, STARTED, worker, bootstrap_servers)


def stop(connector: Name, worker: WorkerFile = None, bootstrap_servers: Servers = None) -> None:
    """Stop a connector: as if paused, and its offsets may be altered and reset (`kconnect offsets --help`).

    Example: kconnect stop orders-source
    """
    _set(connector, STOPPED, worker, bootstrap_servers)


def _set(connector: str, state: str, file: Path | None, bootstrap_servers: str | None) -> None:
    with errors_shown():
        name = connector_name(connector)
        with resolved({}, worker_config(file, bootstrap_servers)) as (_, worker):
            set_target_state(name, state, worker)
    typer.echo(f"Connector {name} is {state.lower()}.")
