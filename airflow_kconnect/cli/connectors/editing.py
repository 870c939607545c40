"""`kconnect edit`: a connector's configuration in the user's editor."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from airflow_kconnect.cli.connectors.api import Connectors
from airflow_kconnect.cli.connectors.arguments import Name
from airflow_kconnect.cli.connectors.command import on_connectors
from airflow_kconnect.cli.connectors.describing import without_secrets
from airflow_kconnect.connect.errors import ConfigError


@on_connectors
def edit(connectors: Connectors, name: Name) -> None:
    """Change a connector's configuration in your editor (`$VISUAL`, `$EDITOR`, else `vi`).

    Example: kconnect edit orders-sink

    Secrets are `[hidden]`: those that are left so keep their values. Nothing is changed if you change nothing. If the
    new configuration is not valid, its errors are shown, and the file with your changes is kept.
    """
    before = without_secrets(connectors.info(name)["config"])
    with tempfile.NamedTemporaryFile("w", prefix="kconnect-", suffix=".json", delete=False, encoding="utf-8") as file:
        json.dump(before, file, indent=2, sort_keys=True, ensure_ascii=False)
        file.write("\n")
    path = Path(file.name)
    kept = True
    try:
        _open_editor(path)
        after = _read(path)
        if after == before:
            typer.echo(f"Connector {name} was not changed.")
        else:
            connectors.put_config(name, after)
            typer.echo(f"Connector {name} has its new configuration.")
        kept = False
    finally:
        if kept:
            typer.echo(f"Your changes are in {path}", err=True)
        else:
            path.unlink(missing_ok=True)


def _open_editor(path: Path) -> None:
    """:raises ConfigError: there is no editor, or it ended with an error."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        ended = subprocess.run([*shlex.split(command), str(path)], check=False).returncode
    except (OSError, ValueError) as error:
        raise ConfigError({"EDITOR": [f"cannot start {command}: {error}"]}) from None
    if ended:
        raise ConfigError({"EDITOR": [f"{command} ended with exit code {ended}; nothing was changed"]})


def _read(path: Path) -> dict[str, Any]:
    try:
        parsed = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError({"config": [f"is not JSON: {error}; nothing was changed"]}) from None
    if not isinstance(parsed, Mapping):
        raise ConfigError({"config": ["is not a JSON object; nothing was changed"]})
    return dict(parsed)
