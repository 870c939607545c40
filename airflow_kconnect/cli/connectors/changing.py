"""`kconnect create`, `config` and `delete`: connectors are registered, changed and forgotten."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from airflow_kconnect.cli.connectors.api import Connectors
from airflow_kconnect.cli.connectors.arguments import (
    AsJson,
    ConnectorFile,
    Name,
    print_json,
    print_texts,
    read_connector,
    say,
)
from airflow_kconnect.cli.connectors.command import on_connectors
from airflow_kconnect.cli.connectors.describing import without_secrets
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.control.secrets import HIDDEN
from airflow_kconnect.submit.operations import PAUSED, STARTED, STOPPED


class InitialState(StrEnum):
    """States in which a connector can be created, in Connect's words."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"


_TARGETS = {
    InitialState.RUNNING: STARTED,
    InitialState.PAUSED: PAUSED,
    InitialState.STOPPED: STOPPED,
}


@on_connectors
def create(
    connectors: Connectors,
    file: ConnectorFile,
    state: Annotated[
        InitialState | None, typer.Option("--state", help="Its state at first. Default: running.", show_default=False)
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="If it is registered already, replace its configuration.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Register a connector.

    Examples: `kconnect create orders.json`, `kconnect create orders.json --state stopped`, `kconnect create -`

    The whole configuration is checked first, and all errors are shown. Straight to the topics nothing starts a run.
    """
    if state is not None and replace:
        raise typer.BadParameter(
            "is for new connectors: pause, resume or stop one that exists", param_hint="--state with --replace"
        )
    name, config = read_connector(file)
    if replace:
        created, info = connectors.put_config(name, config)
    else:
        created, info = True, connectors.create(name, config, _TARGETS[state] if state else None)
    if as_json:
        print_json({**info, "config": without_secrets(info["config"])})
    else:
        typer.echo(f"Connector {name} is registered." if created else f"Connector {name} has its new configuration.")


@on_connectors
def config(
    connectors: Connectors,
    name: Name,
    changes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=VALUE | KEY-]...", help="KEY=VALUE sets a key, KEY- removes it.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the configuration of a connector, or change some of its keys.

    Examples: `kconnect config orders-sink`, `kconnect config orders-sink tasks.max=4 errors.tolerance-`

    Secrets are shown as `[hidden]`. Do not write a secret on the command line, but a variable such as
    `${file:/run/secrets/orders.properties:password}`, or use `kconnect edit`.
    """
    info = connectors.patch_config(name, patch_of(changes)) if changes else connectors.info(name)
    shown = without_secrets(info["config"])
    if as_json:
        print_json({"config": shown})
    elif changes:
        typer.echo(f"Connector {name} has its new configuration.")
    else:
        print_texts((f"{key}={value}" for key, value in sorted(shown.items())), "The configuration is empty.")


@on_connectors
def delete(
    connectors: Connectors,
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget a connector: its configuration, state and statuses. Its committed offsets stay.

    Example: kconnect delete orders-sink --yes

    On a terminal it asks first; elsewhere it needs --yes. A connector that is registered again under the same name
    resumes from its offsets; `kconnect stop` and `kconnect offsets reset` before it is deleted forget them, too.
    """
    connectors.info(name)
    if not yes:
        _confirm(f"Delete connector {name} at {connectors.target}?")
    connectors.delete(name)
    say(f"Connector {name} is deleted; its offsets stay.", as_json)


def patch_of(changes: Sequence[str]) -> dict[str, str | None]:
    """Keys and their new values; None removes one.

    :raises ConfigError: with all changes that cannot be understood.
    """
    patch: dict[str, str | None] = {}
    errors: dict[str, list[str]] = {}
    for change in changes:
        key, equals, value = change.partition("=")
        key = key.strip()
        if not equals and key.endswith("-"):
            key, new = key[:-1], None
        else:
            new = value
        if not key or (not equals and new is not None):
            errors.setdefault(change, []).append("is neither KEY=VALUE nor KEY-")
        elif key in patch:
            errors.setdefault(key, []).append("is changed twice")
        elif new == HIDDEN:
            errors.setdefault(key, []).append(
                f"{HIDDEN} hides a secret and is not its value: leave the key out to keep it"
            )
        patch[key] = new
    if errors:
        raise ConfigError(errors)
    return patch


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise typer.BadParameter("is needed without a terminal to ask on", param_hint="--yes")
    typer.confirm(question, abort=True, err=True)
