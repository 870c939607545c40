"""Records that fail: what is told of them, and which rows of a batch are kept."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.connect.error_cells import DROPPED, RecordError, stage_prefix, with_exception
from airflow_kconnect.runtime.bad_records import (
    ErrorHandling,
    ErrorReporter,
    FailedRecord,
    context_headers,
    log_line,
    triage,
)

ERROR = RecordError("VALUE_CONVERTER", "x.JsonConverter", "x.DataException", "bad")
RECORD = FailedRecord("t", 3, 17, b"k", b"v", [("own", b"1")], 1234)
FAILED = stage_prefix("VALUE_CONVERTER", "x.JsonConverter") + with_exception("x.DataException", "bad")


def batch(*errors: str | None) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"n": list(range(len(errors))), "error": pa.array(errors, pa.string())})


class TestContextHeaders:
    def test_names_order_and_contents_are_connects(self) -> None:
        assert context_headers("c", 0, RECORD, ERROR) == [
            ("__connect.errors.topic", b"t"),
            ("__connect.errors.partition", b"3"),
            ("__connect.errors.offset", b"17"),
            ("__connect.errors.connector.name", b"c"),
            ("__connect.errors.task.id", b"0"),
            ("__connect.errors.stage", b"VALUE_CONVERTER"),
            ("__connect.errors.class.name", b"x.JsonConverter"),
            ("__connect.errors.exception.class.name", b"x.DataException"),
            ("__connect.errors.exception.message", b"bad"),
            ("__connect.errors.exception.stacktrace", b"x.DataException: bad"),
        ]

    def test_what_is_not_known_is_null(self) -> None:
        headers = dict(context_headers("c", 0, FailedRecord(None, "{}", None), ERROR))
        assert (headers["__connect.errors.topic"], headers["__connect.errors.offset"]) == (None, None)


class TestReporter:
    def reported(self, **handling: Any) -> list[Any]:
        produced: list[Any] = []
        reporter = ErrorReporter(ErrorHandling("c", **handling), 0, lambda *record: produced.append(record))
        reporter.report(RECORD, ERROR)
        return produced

    def test_without_a_topic_there_are_no_dead_letters(self) -> None:
        assert self.reported(tolerant=True) == []

    def test_a_dead_letter_has_the_original_record(self) -> None:
        assert self.reported(topic="dead") == [("dead", b"v", b"k", -1, None, None, 1234, [("own", b"1")])]

    def test_context_headers_come_behind_the_own_ones(self) -> None:
        [record] = self.reported(topic="dead", context_headers=True)
        assert [name for name, _ in record[-1]][:2] == ["own", "__connect.errors.topic"]

    @pytest.mark.parametrize("enabled", [True, False])
    def test_errors_are_logged_as_configured(self, enabled: bool, caplog: pytest.LogCaptureFixture) -> None:
        self.reported(log=enabled)
        assert bool(caplog.records) is enabled


class TestLogLine:
    def test_names_stage_and_class(self) -> None:
        line = log_line(ErrorHandling("c"), 2, RECORD, ERROR)
        assert line == (
            "Error encountered in task c-2. Executing stage 'VALUE_CONVERTER' with class 'x.JsonConverter'."
            " x.DataException: bad"
        )

    def test_with_messages_it_names_the_record(self) -> None:
        line = log_line(ErrorHandling("c", messages=True), 2, RECORD, ERROR)
        assert "where consumed record is {topic='t', partition=3, offset=17, timestamp=1234" in line


class TestTriage:
    def test_a_batch_without_errors_is_left_alone(self) -> None:
        whole = batch(None, None)
        assert triage(whole, tolerant=False).good is whole

    def test_good_rows_keep_their_order(self) -> None:
        triaged = triage(batch(None, FAILED, None, DROPPED, None), tolerant=True)
        assert triaged.good.column("n").to_pylist() == [0, 2, 4]

    def test_counts(self) -> None:
        triaged = triage(batch(None, FAILED, DROPPED, DROPPED), tolerant=True)
        assert (triaged.filtered, triaged.passed_over, triaged.stopped) == (2, 1, None)

    def test_without_tolerance_the_first_failed_row_stops(self) -> None:
        triaged = triage(batch(DROPPED, None, FAILED, FAILED), tolerant=False)
        assert (triaged.stopped, triaged.filtered, triaged.passed_over) == (2, 1, 0)

    def test_the_failed_row_that_stops_is_reported(self) -> None:
        assert [row for row, _ in triage(batch(None, FAILED), tolerant=False).failed] == [1]

    def test_what_is_not_a_failed_stage_always_stops(self) -> None:
        triaged = triage(batch(FAILED, "\x01value eA=="), tolerant=True)
        assert (triaged.stopped, triaged.passed_over) == (1, 1)
