"""Errors of connector tasks that Airflow may retry, one class per reason, for use in retry policies.

A run that can never succeed (configuration or data) is an `AirflowFailException` instead, which is not retried.
"""

from __future__ import annotations

from airflow.sdk.exceptions import AirflowException

from airflow_kconnect.connect.run import EXIT_FENCED, EXIT_INTERNAL, EXIT_RETRIABLE


class ConnectorRunError(AirflowException):
    """A connector's run failed. The next attempt resumes where this one stopped."""


class ConnectorRetriableError(ConnectorRunError):
    """Something outside was away (a broker, a database)."""


class ConnectorFencedError(ConnectorRunError):
    """A newer run of the same connector has taken over; this one committed nothing more."""


class ConnectorInternalError(ConnectorRunError):
    """airflow_kconnect broke a promise of its own."""


RETRIED: dict[int, type[ConnectorRunError]] = {
    EXIT_RETRIABLE: ConnectorRetriableError,
    EXIT_FENCED: ConnectorFencedError,
    EXIT_INTERNAL: ConnectorInternalError,
}
