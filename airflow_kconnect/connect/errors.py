"""The errors of airflow_kconnect, classified by how the caller reacts to them.

Every error carries the exit code of the job (0 is success, 2 is a usage error of the command line).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class ConnectError(Exception):
    """Base class of all errors shown to users; the text is one line and names the next step."""

    exit_code = 5


class ConfigError(ConnectError):
    """The configuration is wrong: never retry.

    :param errors: configuration key -> messages; all problems, not only the first.
    :param connector: name of the connector, if known.
    """

    exit_code = 1

    def __init__(self, errors: Mapping[str, Sequence[str]], connector: str | None = None) -> None:
        self.errors: dict[str, list[str]] = {key: list(messages) for key, messages in errors.items()}
        self.connector = connector
        super().__init__(self._text())

    def _text(self) -> str:
        of = f" of connector {self.connector}" if self.connector else ""
        lines = [f"`{key}`: {message}" for key, messages in self.errors.items() for message in messages]
        if len(lines) == 1:
            return f"Configuration{of} is invalid: {lines[0]}"
        return f"Configuration{of} is invalid, {len(lines)} errors:\n  " + "\n  ".join(lines)

    def __reduce__(self) -> tuple[type[ConfigError], tuple[dict[str, list[str]], str | None]]:
        return type(self), (self.errors, self.connector)


class SetupError(ConnectError):
    """Something on this machine is missing or in the way (Java, a port, a folder): fix it and start again."""

    exit_code = 1


class DataError(ConnectError):
    """A record, an offset or a source is not as expected: check the location named, then run again."""

    exit_code = 1


class WarnedError(DataError):
    """A run has committed what it moved, with warnings of kinds with which the user wants it to fail."""


class RefusedError(DataError):
    """A sink's target rejects a record because of its content; it may accept others."""


class RetriableError(ConnectError):
    """An external system is unavailable (a broker, a database): the same run may succeed later."""

    exit_code = 3


class NextRunError(RetriableError):
    """The same run may succeed later, but not by trying again what has failed: only by a run that begins again."""


class OccupiedError(RetriableError):
    """The connector is run by another process, whose statuses are left alone; the same run may succeed later."""


class FencedError(ConnectError):
    """A newer run of the same connector has taken over; this one has stopped and committed nothing more."""

    exit_code = 4


class InternalError(ConnectError):
    """A bug in airflow_kconnect itself; please report it."""

    exit_code = 5


def first_line(error: object) -> str:
    """The first line of an error's text; the name of its class if it has none."""
    lines = str(error).strip().splitlines()
    return lines[0].strip() if lines else type(error).__name__


def in_one_line(error: BaseException) -> str:
    """Class and first line of the text of an error of another library."""
    return named(error).splitlines()[0]


def named(error: BaseException) -> str:
    """Class and text of an error of other code; the class alone if there is no text."""
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
