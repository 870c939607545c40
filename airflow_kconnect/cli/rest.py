"""`kconnect rest`: Connect's REST API on this machine, for development."""

from __future__ import annotations

import ipaddress
import os
import stat
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from airflow_kconnect.cli.errors import errors_shown
from airflow_kconnect.cli.worker import Servers, WorkerFile, worker_config
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.remote.local_token import kept, new_token
from airflow_kconnect.worker_config.keys import PREVIEW_SOURCES

_TOKEN = "KCONNECT_REST_TOKEN"


def rest(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8083,
    host: Annotated[str, typer.Option(help="Address; beyond this machine it needs a token.")] = "127.0.0.1",
    token_file: Annotated[
        Path | None,
        typer.Option(
            help=f"File with the token that requests must send as `Authorization: Bearer`. Or set {_TOKEN}. Neither: "
            "a new one, which commands on this machine find by themselves.",
            show_default=False,
        ),
    ] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Answer everyone on this machine, all its users, without a token.")
    ] = False,
    worker: WorkerFile = None,
    bootstrap_servers: Servers = None,
) -> None:
    """Serve Kafka Connect's REST API until Ctrl-C.

    Example: `kconnect rest`, then `kconnect list --server http://127.0.0.1:8083`

    Connectors are registered in the worker's `config.storage.topic`. Nothing here runs them: `kconnect run` and DAGs
    do, and write their states to `status.storage.topic`. In Airflow, the API server serves the same API to its users.
    """
    with errors_shown():
        given = _token(token_file)
        if given and no_token:
            raise ConfigError({"--no-token": [f"and a token by --token-file or {_TOKEN} exclude each other"]})
        _check_reach(host, given)
        token = given or (None if no_token else new_token())
        # A preview reads what this user may read, for anyone who asks.
        props = {PREVIEW_SOURCES: "false" if token is None else "true", **worker_config(worker, bootstrap_servers)}
        from airflow_kconnect.rest.local_server import serve

        with ExitStack() as at_end:

            def started(url: str) -> None:
                typer.echo(f"Kafka Connect's REST API: {url} (Ctrl-C ends it)")
                if token is not None and given is None:
                    _say_token(url, token, at_end.enter_context(kept(url, token)))

            serve(props, host, port, token, started)


def _say_token(url: str, token: str, file: Path) -> None:
    typer.echo(f"Its token is in {file}, where `kconnect --server` finds it: --no-token does without.")
    # Not into a file: others may read it.
    if sys.stdout.isatty():
        typer.echo(f"Page: {url}/ui/#token={token}")


def _token(file: Path | None) -> str | None:
    if file is None:
        return os.environ.pop(_TOKEN, None) or None  # processes of previews run code of plug-ins: not for them
    try:
        found = file.stat()
        if stat.S_ISREG(found.st_mode) and found.st_mode & 0o077:
            raise ConfigError(
                {"--token-file": [f"others can read {file}: `chmod 600 {file}`, or give the token as {_TOKEN}"]}
            )
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError({"--token-file": [f"cannot read {file}: {error}"]}) from None
    if not token:
        raise ConfigError({"--token-file": [f"{file} is empty"]})
    return token


def _check_reach(host: str, token: str | None) -> None:
    try:
        local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = False
    if not local and token is None:
        text = f"{host} can be reached from other machines: set a token with --token-file or {_TOKEN}"
        raise ConfigError({"--host": [text]})
