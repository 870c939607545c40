"""A retry policy for connector tasks: Airflow's reaction to each of their errors."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from airflow.providers.common.compat.sdk import AirflowOptionalProviderFeatureException

from airflow_kconnect.errors import (
    ConnectorConfigError,
    ConnectorFencedError,
    ConnectorInternalError,
    ConnectorRetriableError,
)

if TYPE_CHECKING:
    from airflow.sdk import ExceptionRetryPolicy, RetryAction


def connector_retry_policy(
    *,
    retriable_delay: timedelta = timedelta(minutes=1),
    fenced: RetryAction | None = None,
    internal: RetryAction | None = None,
) -> ExceptionRetryPolicy:
    """A `retry_policy` for operators of this package; the number of attempts remains that of `retries`.

    A run that failed because an external system was unavailable is retried after a delay of its own. A fenced one is
    not: a newer run has taken over, which a retry would fence in turn. Configuration and data errors are never retried.
    All other failures (Spark, the machine) follow the task's `retries` and `retry_delay`.

    .. code-block:: python

        KafkaSourceOperator(task_id="read", connector=..., retries=5, retry_policy=connector_retry_policy())

    :param retriable_delay: before the next attempt when a broker or a database was unavailable.
    :param fenced: `RetryAction.RETRY` for a connector that only this task runs, to take over from a leftover run.
        Default: `RetryAction.FAIL`.
    :param internal: what to do about an internal error of this package. Default: `RetryAction.RETRY`.
    :raises AirflowOptionalProviderFeatureException: this Airflow is older than 3.3 and has no retry policies.
    """
    try:
        from airflow.sdk import ExceptionRetryPolicy, RetryAction, RetryRule
    except ImportError as error:
        from airflow import __version__

        raise AirflowOptionalProviderFeatureException(
            f"connector_retry_policy needs Airflow 3.3 or newer, and this is {__version__}. "
            "Leave `retry_policy` out: errors of configuration and data are not retried in any version, and all others "
            "follow the task's `retries` and `retry_delay`."
        ) from error
    fenced, internal = fenced or RetryAction.FAIL, internal or RetryAction.RETRY
    return ExceptionRetryPolicy(
        rules=[
            RetryRule(ConnectorConfigError, RetryAction.FAIL, reason="configuration or data are wrong"),
            RetryRule(ConnectorFencedError, fenced, reason="a newer run of the connector has taken over"),
            RetryRule(
                ConnectorRetriableError, RetryAction.RETRY, retriable_delay, "an external system was unavailable"
            ),
            RetryRule(ConnectorInternalError, internal, reason="an internal error of airflow_kconnect"),
        ]
    )
