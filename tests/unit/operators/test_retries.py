"""The retry policy, asked as Airflow's task runner asks it."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import structlog
from airflow.sdk import DAG, RetryAction
from airflow.sdk.api.datamodels._generated import TaskInstanceState
from airflow.sdk.definitions.retry_policy import ExceptionRetryPolicy
from airflow.sdk.execution_time.task_runner import _handle_current_task_failed

from airflow_kconnect.errors import (
    ConnectorConfigError,
    ConnectorFencedError,
    ConnectorInternalError,
    ConnectorRetriableError,
    ConnectorRunError,
)
from airflow_kconnect.operators.kafka_connect import KafkaSourceOperator
from airflow_kconnect.operators.retries import connector_retry_policy


def after(error: Exception, policy: ExceptionRetryPolicy | None = None, attempts_left: bool = True) -> tuple[Any, Any]:
    """What the worker tells the scheduler, and the task's state, after an attempt has failed."""
    operator = KafkaSourceOperator(
        task_id="read", connector={}, retries=3, retry_policy=policy or connector_retry_policy()
    )
    task_instance = SimpleNamespace(
        task=operator,
        try_number=1,
        stats_tags={},
        rendered_map_index=None,
        _failure_metrics_emitted=False,
        _ti_context_from_server=SimpleNamespace(max_tries=3, should_retry=attempts_left),
    )
    message, state = _handle_current_task_failed(task_instance, error, structlog.get_logger(), {})  # type: ignore[arg-type]
    return message, state


class TestDecisions:
    def test_what_was_unavailable_is_retried_after_a_delay_of_its_own(self) -> None:
        message, state = after(
            ConnectorRetriableError("x"), connector_retry_policy(retriable_delay=timedelta(seconds=7))
        )

        assert (state, message.retry_delay_seconds) == (TaskInstanceState.UP_FOR_RETRY, 7)

    @pytest.mark.parametrize("error", [ConnectorFencedError("x"), ConnectorConfigError("x")])
    def test_what_a_retry_cannot_mend_fails_at_once(self, error: Exception) -> None:
        assert after(error)[1] == TaskInstanceState.FAILED

    @pytest.mark.parametrize("error", [ConnectorInternalError("x"), ConnectorRunError("x"), OSError("x")])
    def test_anything_else_waits_as_the_task_says(self, error: Exception) -> None:
        message, state = after(error)

        assert (state, message.retry_delay_seconds) == (TaskInstanceState.UP_FOR_RETRY, None)

    def test_a_fenced_run_can_be_tried_again(self) -> None:
        policy = connector_retry_policy(fenced=RetryAction.RETRY)

        assert after(ConnectorFencedError("x"), policy)[1] == TaskInstanceState.UP_FOR_RETRY

    def test_there_are_no_more_attempts_than_the_task_has(self) -> None:
        assert after(ConnectorRetriableError("x"), attempts_left=False)[1] == TaskInstanceState.FAILED


class TestPolicy:
    def test_survives_serialization(self) -> None:
        policy = connector_retry_policy()
        again = ExceptionRetryPolicy.deserialize(policy.serialize())

        assert again.evaluate(ConnectorFencedError("x"), 1, 3).action is RetryAction.FAIL

    def test_a_dag_with_it_is_serialized(self) -> None:
        from airflow.serialization.serialized_objects import DagSerialization

        with DAG("d") as dag:
            KafkaSourceOperator(task_id="read", connector={}, retry_policy=connector_retry_policy())

        (task,) = DagSerialization.to_dict(dag)["dag"]["tasks"]
        assert task["__var"]["has_retry_policy"] is True
