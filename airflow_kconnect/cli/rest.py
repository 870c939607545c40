"""`kconnect rest`: Connect's REST API on this machine, for development."""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path
from typing import Annotated

import typer

from airflow_kconnect.cli.errors import errors_shown
from airflow_kconnect.cli.worker import Servers, WorkerFile, worker_config
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.validation.worker_keys import PREVIEW_SOURCES

_TOKEN = "KCONNECT_REST_TOKEN"


def rest(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8083,
    host: Annotated[str, typer.Option(help="Address; beyond this machine it needs a token.")] = "127.0.0.1",
    token_file: Annotated[
        Path | None,
        typer.Option(
            help=f"File with the token that requests must send as `Authorization: Bearer`. Or set {_TOKEN}.",
            show_default=False,
        ),
    ] = None,
    worker: WorkerFile = None,
    bootstrap_servers: Servers = None,
) -> None:
    """Serve Kafka Connect's REST API until Ctrl-C.

    Example: `kconnect rest`, then `curl http://127.0.0.1:8083/connectors`

    Connectors are registered in the worker's `config.storage.topic`. Nothing here runs them: `kconnect run` and DAGs
    do, and write their states to `status.storage.topic`. In Airflow, the API server serves the same API to its users.
    """
    with errors_shown():
        token = _token(token_file)
        _check_reach(host, token)
        props = {PREVIEW_SOURCES: "true", **worker_config(worker, bootstrap_servers)}
        from airflow_kconnect.rest.local_server import serve

        serve(props, host, port, token, lambda url: typer.echo(f"Kafka Connect's REST API: {url} (Ctrl-C ends it)"))


def _token(file: Path | None) -> str | None:
    if file is None:
        return os.environ.get(_TOKEN) or None
    try:
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
