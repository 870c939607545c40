"""How commands end with an error: shown on standard error, with the exit code of its kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer

from airflow_kconnect.cli.console import Console, clean
from airflow_kconnect.cli.run_display import show_error
from airflow_kconnect.connect.errors import ConfigError, ConnectError

# Keys of errors that are not configuration keys, but what was typed.
_ARGUMENTS = ("connector", "CLASS", "FILE", "NAME", "TOPIC")
_PREDICATES = ("is ", "has ", "are ", "names ")


@contextmanager
def errors_shown() -> Iterator[None]:
    """An error is shown as `kconnect run` shows it: those of a configuration as a table."""
    try:
        yield
    except ConnectError as error:
        show(Console(stderr=True), error_event(error))
        raise typer.Exit(error.exit_code) from error


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """An error is shown as plain text; for commands without a connector's configuration."""
    try:
        yield
    except ConnectError as error:
        typer.echo(clean(f"Error: {error}"), err=True)
        raise typer.Exit(error.exit_code) from error


def error_event(error: ConnectError) -> dict[str, Any]:
    """An error with the members of the error event of a job."""
    errors = error.errors if isinstance(error, ConfigError) else None
    return {"error": type(error).__name__, "message": str(error), "exit_code": error.exit_code, "errors": errors}


def show(console: Console, error: Mapping[str, Any], tail: Iterable[str] = ()) -> None:
    """An error, as `show_error` does; but what is wrong with an argument is a sentence, and no table of keys.

    :param error: as `error_event` makes it. :param tail: Spark's last lines.
    """
    errors: Mapping[str, list[str]] = error.get("errors") or {}
    if errors and all(key in _ARGUMENTS or key.startswith("--") for key in errors):
        lines = [_sentence(key, message) for key, messages in errors.items() for message in messages]
        error = {**error, "errors": None, "message": "\n".join(lines)}
    show_error(console, error, tail)


def _sentence(key: str, message: str) -> str:
    return f"{key} {message}" if key.startswith("--") or message.startswith(_PREDICATES) else message
