"""Errors of connector tasks, one class per reason, for callbacks and retry policies."""

from __future__ import annotations

from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException

from airflow_kconnect.connect.run import (
    EXIT_CONFIG_OR_DATA,
    EXIT_FENCED,
    EXIT_INTERNAL,
    EXIT_RETRIABLE,
    EXIT_USAGE,
)
from airflow_kconnect.runbooks import runbook_url


class ConnectorConfigError(AirflowFailException):
    """Configuration or data are wrong: a retry would not help, and Airflow does not retry."""


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


def connector_error(exit_code: int, message: str) -> AirflowException:
    """The error for the exit code of a run's job, or of a `ConnectError`; names the runbook if there is one."""
    if url := runbook_url(message):
        message = f"{message} (runbook: {url})"
    if exit_code in (EXIT_CONFIG_OR_DATA, EXIT_USAGE):
        return ConnectorConfigError(message)
    return RETRIED.get(exit_code, ConnectorRunError)(message)
