"""A retry policy for connector tasks: what Airflow does about each of their errors."""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import ExceptionRetryPolicy, RetryAction, RetryRule

from airflow_kconnect.operators.errors import (
    ConnectorConfigError,
    ConnectorFencedError,
    ConnectorInternalError,
    ConnectorRetriableError,
)


def connector_retry_policy(
    *,
    retriable_delay: timedelta = timedelta(minutes=1),
    fenced: RetryAction = RetryAction.FAIL,
    internal: RetryAction = RetryAction.RETRY,
) -> ExceptionRetryPolicy:
    """A `retry_policy` for operators of this package; the number of attempts remains that of `retries`.

    A run that failed because something was away is tried again after a delay of its own. A fenced one is not: a newer
    run has taken over, which a retry would fence in turn. Errors of configuration and data are never retried. Whatever
    else fails (Spark, the machine) follows the task's `retries` and `retry_delay`.

    .. code-block:: python

        KafkaSourceOperator(task_id="read", connector=..., retries=5, retry_policy=connector_retry_policy())

    :param retriable_delay: before the next attempt when a broker or a database was away.
    :param fenced: `RetryAction.RETRY` for a connector that only this task runs, to take over from what was left behind.
    :param internal: about a broken promise of this package.
    """
    return ExceptionRetryPolicy(
        rules=[
            RetryRule(ConnectorConfigError, RetryAction.FAIL, reason="configuration or data are wrong"),
            RetryRule(ConnectorFencedError, fenced, reason="a newer run of the connector has taken over"),
            RetryRule(ConnectorRetriableError, RetryAction.RETRY, retriable_delay, "something outside was away"),
            RetryRule(ConnectorInternalError, internal, reason="airflow_kconnect broke a promise of its own"),
        ]
    )
