"""What the commands for servers on this machine, `kconnect broker` and `kconnect registry`, print."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import typer

from airflow_kconnect.cli.errors import errors_in_one_line
from airflow_kconnect.local.broker import BrokerStatus
from airflow_kconnect.local.registry import RegistryStatus
from airflow_kconnect.local.server import LocalServer

ServerStatus = BrokerStatus | RegistryStatus
_NOT_RUNNING = 3


@dataclass(frozen=True)
class ServerCommands:
    """The outcomes of start, stop and status, in sentences.

    :param product: the program, as in `Kafka 4.3.0 runs`.
    :param owner: whose process it is, at the beginning of a sentence.
    """

    name: str
    product: str
    owner: str

    def show_started(self, status: ServerStatus) -> None:
        """Print where a server runs after its start."""
        typer.echo(self._sentence(status))
        if status.note:
            typer.echo(status.note, err=True)

    def stop(self, server_of: Callable[[Path], LocalServer], folder: Path) -> None:
        """Stop the server of a data folder, if it runs."""
        with errors_in_one_line():
            stopped = server_of(folder).stop()
        typer.echo(f"The {self.name} of {folder} has stopped." if stopped else self._none_in(folder))

    def show_status(self, status: ServerStatus, *, as_json: bool) -> None:
        """Print whether a server runs, and where.

        :raises typer.Exit: it does not.
        """
        typer.echo(json.dumps(asdict(status), default=str) if as_json else self._sentence(status))
        if status.state != "running":
            raise typer.Exit(_NOT_RUNNING)

    def _sentence(self, status: ServerStatus) -> str:
        if status.state == "running":
            return (
                f"{self.product} {status.version} runs at {status.address} (pid {status.pid}, data in {status.data})."
            )
        if status.state == "starting":
            return f"{self.owner} process {status.pid} is running, but does not answer at {status.address}."
        return self._none_in(status.data)

    def _none_in(self, folder: Path) -> str:
        return f"No {self.name} is running in {folder}."
