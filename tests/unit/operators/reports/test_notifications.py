"""Callbacks after a run: when they are called, with what, and what becomes of those that fail."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException, mask_secret
from airflow.sdk import BaseNotifier

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator
from airflow_kconnect.operators.reports.failures import FAILURE
from airflow_kconnect.runs.events import event_line
from airflow_kconnect.runs.warnings import Kind, RunWarning
from tests.support.connectors.connector_tasks import SINK, SOURCE, context, ending_with, fake_spark, report
from tests.support.spark.fake_spark import FakeSpark, printing

BAD = {"read": 7, "written": 5, "dead_lettered": 2}
BEHIND: dict[str, Any] = {"lag": {"a": 6, "b": 5}, "lag_max": 6}


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    return fake_spark(tmp_path, monkeypatch)


class Note(BaseNotifier):
    """A notifier that only remembers what it would send."""

    template_fields = ("text",)

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.sent: list[str] = []

    def notify(self, context: Any) -> None:
        self.sent.append(self.text)


def _run(spark: FakeSpark, content: dict[str, Any], **parameters: Any) -> dict[str, Any]:
    spark.behave(ending_with(content))
    given: dict[str, Any] = context()
    operator, connector = (KafkaSinkOperator, SINK) if content["kind"] == "sink" else (KafkaSourceOperator, SOURCE)
    operator(task_id="t", connector=connector, **parameters).execute(given)  # type: ignore[arg-type]
    return given


class TestDeadLetters:
    def test_a_notifier_gets_the_report_in_its_templates(self, spark: FakeSpark) -> None:
        note = Note("{{ kconnect.connector }}: {{ kconnect.records.dead_lettered }} bad records")

        _run(spark, report(records=BAD), on_dead_letters_callback=note)

        assert note.sent == ["lines: 2 bad records"]

    def test_there_is_no_callback_when_there_are_none(self, spark: FakeSpark) -> None:
        note = Note("x")

        _run(spark, report(), on_dead_letters_callback=note)

        assert note.sent == []

    def test_one_that_fails_is_logged_and_the_others_are_called(
        self, spark: FakeSpark, caplog: pytest.LogCaptureFixture
    ) -> None:
        called: list[Any] = []

        def broken(given: Any) -> None:
            raise OSError("the pager is unavailable")

        with caplog.at_level(logging.ERROR):
            _run(spark, report(records=BAD), on_dead_letters_callback=[broken, called.append])

        assert len(called) == 1
        assert "called because of dead letters, failed" in caplog.text
        assert "the pager is unavailable" in caplog.text


class TestWarnings:
    def test_they_are_warnings_in_the_tasks_log_with_their_kind(
        self, spark: FakeSpark, capsys: pytest.CaptureFixture[str]
    ) -> None:
        warnings = [RunWarning(Kind.LOST, "offsets 1 to 9 were deleted"), RunWarning(Kind.CONFIGURATION, "a key")]
        _run(spark, report(warnings=warnings, incomplete=["held_back"]))
        told = capsys.readouterr().out
        assert "[warning  ] lost: offsets 1 to 9 were deleted" in told
        assert "[info     ] Not complete  rows wait" in told
        assert "a key" not in told

    def test_a_run_that_fails_because_of_them_is_counted_and_not_retried(self, spark: FakeSpark) -> None:
        error = event_line("error", error="WarnedError", message="what was moved is committed", exit_code=1)
        moved, called, given = report(records=BAD), list[Any](), context()
        spark.behave(printing(event_line("report", report=moved), error, exit_code=1))

        def note(given: Any) -> None:
            called.append(given["kconnect"])

        operator = KafkaSourceOperator(task_id="t", connector=SOURCE, on_dead_letters_callback=note)
        with pytest.raises(AirflowFailException, match="what was moved is committed"):
            operator.execute(given)
        assert (called, given["kconnect"]["message"]) == ([moved], "what was moved is committed")
        assert given["xcoms"][FAILURE] == {**given["kconnect"], "report": moved}


class TestLag:
    @pytest.mark.parametrize(("threshold", "sent"), [(10, ["11 behind"]), (11, [])])
    def test_counts_all_topics_together(self, spark: FakeSpark, threshold: int, sent: list[str]) -> None:
        note = Note("{{ kconnect.lag.values() | sum }} behind")

        _run(spark, report("sink", **BEHIND), on_lag_callback=note, lag_threshold=threshold)

        assert note.sent == sent

    def test_needs_a_threshold(self) -> None:
        with pytest.raises(ValueError, match="`on_lag_callback` of task t: set `lag_threshold`"):
            KafkaSinkOperator(task_id="t", connector=SINK, on_lag_callback=print)

    def test_is_nothing_that_a_source_has(self) -> None:
        with pytest.raises(ValueError, match="sources have no lag"):
            KafkaSourceOperator(task_id="t", connector=SOURCE, on_lag_callback=print, lag_threshold=1)


class TestAirflowsOwnCallbacks:
    def test_find_the_report_in_the_context(self, spark: FakeSpark) -> None:
        content = report()

        assert _run(spark, content)["kconnect"] == content

    def test_find_the_error_in_the_context_without_secrets(self, spark: FakeSpark) -> None:
        mask_secret("the-password")
        error = event_line("error", error="DataError", message="no the-password", exit_code=1, errors=None)
        spark.behave(printing(error, exit_code=1))
        given = context()

        with pytest.raises(AirflowException):
            KafkaSourceOperator(task_id="t", connector=SOURCE).execute(given)

        facts = {"connector": "lines", "kind": "source", "error": "ConnectorDataError", "message": "no ***"}
        assert given["kconnect"] == facts
        assert given["xcoms"][FAILURE] == {**facts, "report": None}
