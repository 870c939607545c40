"""What a person is shown before a replay or a change of offsets; with a broker: tests/airflow/test_approvals.py."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import AirflowFailException, AirflowSkipException

from airflow_kconnect import (
    ApproveAfterFailureOperator,
    ApproveDeadLetterReplayOperator,
    ApproveOffsetChangeOperator,
)
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.kconnect import KafkaConnectHook
from airflow_kconnect.operators.approvals import ApprovalFacts, offset_changes

SINK = {"name": "orders", "connector.class": "DirectorySink", "topics": "t", "directory": "/out"}
AT_3 = {"partition": {"kafka_topic": "t", "kafka_partition": 0}, "offset": {"kafka_offset": 3}}
WAITING = {
    "connector": "orders",
    "topic": "dead",
    "records": 1200,
    "seen": 500,
    "reasons": [{"connector": None, "stage": "VALUE_CONVERTER", "error": "E", "records": 500, "example": "t-0@7"}],
}


def _facts(operator: Any) -> ApprovalFacts | None:
    context: Any = {"ti": SimpleNamespace(xcom_push=lambda **pushed: None)}
    found: ApprovalFacts | None = operator.facts(context)
    return found


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What Kafka says, by method of the hook."""
    answers: dict[str, Any] = {"dead_letters": WAITING, "offsets": [AT_3]}
    for method in answers:
        monkeypatch.setattr(KafkaConnectHook, method, lambda hook, connector, method=method: answers[method])
    return answers


def test_the_question_has_the_number_and_the_reasons_of_dead_letters(found: dict[str, Any]) -> None:
    facts = _facts(ApproveDeadLetterReplayOperator(task_id="ask", connector=SINK))
    assert facts is not None
    assert facts.subject == "Replay 1,200 dead letters of connector orders?"
    assert "newest 500" in facts.body()
    assert "| `500` | `E` | `VALUE_CONVERTER` | `t-0@7` |  |" in facts.body()


def test_without_dead_letters_nothing_is_asked(found: dict[str, Any]) -> None:
    found["dead_letters"] = {**WAITING, "records": 0}
    with pytest.raises(AirflowSkipException):
        ApproveDeadLetterReplayOperator(task_id="ask", connector=SINK).execute({})


def test_a_reset_shows_the_offsets_that_it_removes(found: dict[str, Any]) -> None:
    facts = _facts(ApproveOffsetChangeOperator(task_id="ask", connector=SINK))
    assert facts is not None
    assert facts.subject == "Reset the offsets of connector orders?"
    assert "| `kafka_topic=t, kafka_partition=0` | `kafka_offset=3` |  |" in facts.body()


def test_offsets_that_stay_as_they_are_need_no_approval(found: dict[str, Any]) -> None:
    assert _facts(ApproveOffsetChangeOperator(task_id="ask", connector=SINK, offsets=[AT_3])) is None
    assert _facts(ApproveOffsetChangeOperator(task_id="ask", connector=SINK, offsets={"offsets": [AT_3]})) is None


def test_a_request_is_compared_with_what_is_committed() -> None:
    back = {**AT_3, "offset": {"kafka_offset": 1}}
    other = {"partition": {"kafka_partition": 1, "kafka_topic": "t"}, "offset": None}
    assert offset_changes([AT_3], [back, other]) == [
        {"partition": AT_3["partition"], "from": {"kafka_offset": 3}, "to": {"kafka_offset": 1}}
    ]


@pytest.mark.parametrize("request_", [{}, {"offsets": "all"}, ["t"], [{"offset": None}]])
def test_what_is_no_request_is_an_error(request_: Any) -> None:
    with pytest.raises(ConfigError, match="must be a list"):
        offset_changes([], request_)


def test_a_wrong_request_is_not_retried(found: dict[str, Any]) -> None:
    with pytest.raises(AirflowFailException, match="must be a list"):
        ApproveOffsetChangeOperator(task_id="ask", connector=SINK, offsets={}).execute({})


def _after_failure(states: dict[str, str], left: Any = None) -> ApprovalFacts | None:
    """What is asked after a task `write`, whose instances have these states."""
    operator = ApproveAfterFailureOperator(task_id="ask", connector=SINK)
    operator.upstream_task_ids.add("write")
    ti = SimpleNamespace(
        dag_id="d", run_id="r", xcom_pull=lambda **wanted: left, get_task_states=lambda **wanted: {"r": states}
    )
    facts: ApprovalFacts | None = operator.facts({"ti": ti})  # type: ignore[typeddict-item]
    return facts


@pytest.mark.parametrize("states", [{"write": "failed"}, {"write_0": "success", "write_1": "upstream_failed"}])
def test_a_failure_without_an_error_is_asked_about_too(states: dict[str, str]) -> None:
    facts = _after_failure(states)
    assert facts is not None
    assert facts.rows == [("write", "not known", "It left no error: see its log")]


def test_an_error_that_was_left_is_shown() -> None:
    facts = _after_failure({"write": "failed"}, {"error": "E", "message": "text"})
    assert facts is not None
    assert facts.rows == [("write", "E", "text")]


def test_without_a_failure_nothing_is_asked() -> None:
    assert _after_failure({"write": "success"}) is None


def test_a_rejection_after_a_failure_fails_for_good() -> None:
    operator = ApproveAfterFailureOperator(task_id="ask", connector=SINK)
    answer = {"chosen_options": ["Reject"], "params_input": {}, "responded_at": datetime.now(UTC)}
    with pytest.raises(AirflowFailException, match="Rejected"):
        operator.execute_complete({}, {**answer, "responded_by_user": None})


def test_what_comes_from_a_topic_does_not_become_markdown() -> None:
    body = ApprovalFacts("?", header=("A",), rows=[("`]|\n# <b>" + "x" * 3000,)]).body()
    assert body == "| A |\n| --- |\n| `]  # <b>" + "x" * 991 + "` |"


def test_a_table_is_cut() -> None:
    body = ApprovalFacts("?", header=("A",), rows=[(n,) for n in range(25)]).body()
    assert body.endswith("| `19` |\n\n... and 5 more")


def test_the_request_and_the_question_are_templated() -> None:
    operator = ApproveOffsetChangeOperator(
        task_id="ask", connector=SINK, subject="Back to {{ 1 + 1 }}?", offsets=[{"partition": {"p": "{{ 1 + 2 }}"}}]
    )
    operator.render_template_fields({})
    assert (operator.subject, operator.offsets) == ("Back to 2?", [{"partition": {"p": "3"}}])
