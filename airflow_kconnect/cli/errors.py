"""How commands end with an error: shown on standard error, with the exit code of its kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from airflow_kconnect.cli.console import Console, clean
from airflow_kconnect.cli.run_display import show_error
from airflow_kconnect.connect.errors import ConfigError, ConnectError


@contextmanager
def errors_shown() -> Iterator[None]:
    """An error is shown as `kconnect run` shows it: those of a configuration as a table."""
    try:
        yield
    except ConnectError as error:
        errors = error.errors if isinstance(error, ConfigError) else None
        show_error(Console(stderr=True), {"error": type(error).__name__, "message": str(error), "errors": errors}, ())
        raise typer.Exit(error.exit_code) from error


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """An error is shown as plain text; for commands without a connector's configuration."""
    try:
        yield
    except ConnectError as error:
        typer.echo(clean(f"Error: {error}"), err=True)
        raise typer.Exit(error.exit_code) from error
