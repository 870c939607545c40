"""Errors of connector tasks, one class per reason, for callbacks and retry policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException

from airflow_kconnect.connect.errors import DataError, RefusedError, WarnedError
from airflow_kconnect.runbooks import runbook_url
from airflow_kconnect.runs.events import EXIT_CONFIG_OR_DATA, EXIT_FENCED, EXIT_INTERNAL, EXIT_RETRIABLE, EXIT_USAGE


class ConnectorConfigError(AirflowFailException):
    """Configuration or data are wrong: a retry would not help, and Airflow does not retry."""


class ConnectorDataError(ConnectorConfigError):
    """Data are wrong: a record, an offset or a source. It is not retried either; a subclass, as it once had no class of
    its own.
    """


class ConnectorRunError(AirflowException):
    """A connector's run failed. The next attempt resumes where this one stopped."""


class ConnectorRetriableError(ConnectorRunError):
    """An external system was unavailable (a broker, a database)."""


class ConnectorFencedError(ConnectorRunError):
    """A newer run of the same connector has taken over; this one committed nothing more."""


class ConnectorInternalError(ConnectorRunError):
    """Internal error: a bug in airflow_kconnect."""


RETRIED: dict[int, type[ConnectorRunError]] = {
    EXIT_RETRIABLE: ConnectorRetriableError,
    EXIT_FENCED: ConnectorFencedError,
    EXIT_INTERNAL: ConnectorInternalError,
}


_OF_DATA = {DataError.__name__, RefusedError.__name__, WarnedError.__name__}


def reported_error(event: Mapping[str, Any]) -> AirflowException:
    """The error for the ``error`` event of a job, see `runs.events.event_line`."""
    return connector_error(int(event["exit_code"]), str(event["message"]), str(event["error"]))


def connector_error(exit_code: int, message: str, error: str = "") -> AirflowException:
    """The error for the exit code of a run's job, or of a `ConnectError`; names the runbook if there is one.

    :param error: name of the `ConnectError`'s class, which tells wrong data from wrong configurations.
    """
    if url := runbook_url(message):
        message = f"{message} (runbook: {url})"
    if exit_code in (EXIT_CONFIG_OR_DATA, EXIT_USAGE):
        return (ConnectorDataError if error in _OF_DATA else ConnectorConfigError)(message)
    return RETRIED.get(exit_code, ConnectorRunError)(message)
