"""What the shell is offered for names: the registered connectors, or the topics, of the place that the line means."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import typer

# The shell waits for it when the tabulator key is pressed.
_PATIENCE_S = 4.0
_OPTIONS = ("server", "profile", "worker", "bootstrap_servers")


def connector_names(context: typer.Context, incomplete: str) -> list[str]:
    """The names that begin like this; none if the place does not answer in time. Never fails, and prints nothing."""
    return _in_time(lambda: _names(context), incomplete)


def topic_names(context: typer.Context, incomplete: str) -> list[str]:
    """The topics that begin like this, without internal ones; otherwise as `connector_names`."""
    return _in_time(lambda: _topics(context), incomplete)


def _in_time(ask: Callable[[], list[str]], incomplete: str) -> list[str]:
    found: list[str] = []

    def answer() -> None:
        try:
            found.extend(ask())
        except BaseException:  # the place is for the command to complain about
            found.clear()

    asking = threading.Thread(target=answer, daemon=True)
    with _Silence():
        asking.start()
        asking.join(_PATIENCE_S)
    return [name for name in sorted(found) if name.startswith(incomplete)]


def _names(context: typer.Context) -> list[str]:
    from airflow_kconnect.cli.connectors.target import chosen

    typed = _typed(context)
    place = chosen(typed.get("server"), typed.get("profile"), typed.get("worker"), typed.get("bootstrap_servers"))
    connectors = place.connectors()
    try:
        return list(connectors.expanded())
    finally:
        connectors.close()


def _topics(context: typer.Context) -> list[str]:
    from airflow_kconnect.cli.kafka import clients_of

    worker, servers = context.params.get("worker"), context.params.get("bootstrap_servers")
    with clients_of(worker, servers, "completion") as (_, admin):
        return [topic for topic in admin.topics() if not topic.startswith("__")]


def _typed(context: typer.Context) -> dict[str, Any]:
    from airflow_kconnect.cli.connectors.command import is_typed

    return {name: context.params.get(name) for name in _OPTIONS if is_typed(context, name)}


class _Silence:
    """Kafka's client writes to the error output of the process, which is the user's line."""

    def __enter__(self) -> None:
        self._kept = os.dup(2)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)

    def __exit__(self, *_: object) -> None:
        os.dup2(self._kept, 2)
        os.close(self._kept)
