"""What a sink task can ask of its run: here, to set a bad record aside."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.connector.task import SinkTaskContext
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import SinkRecord

RECORD = SinkRecord("all", 3, 7, "a", {"n": 1}, original_topic="orders")


class Reporter:
    def __init__(self) -> None:
        self.reported: list[tuple[SinkRecord, Exception]] = []

    def report(self, record: SinkRecord, error: Exception) -> None:
        self.reported.append((record, error))


def test_a_bad_record_goes_to_the_reporter() -> None:
    reporter, error = Reporter(), ValueError("odd")
    SinkTaskContext({}, (), reporter).report(RECORD, error)
    assert reporter.reported == [(RECORD, error)]


@pytest.mark.parametrize(("error", "text"), [(DataError("too long"), "too long"), (KeyError("n"), "KeyError: 'n'")])
def test_without_a_reporter_it_ends_the_run_with_its_place_in_kafka(error: Exception, text: str) -> None:
    with pytest.raises(DataError) as ended:
        SinkTaskContext({}).report(RECORD, error)
    assert str(ended.value) == (
        f"bad record at orders-3@7: {text}. `errors.tolerance` all with `errors.deadletterqueue.topic.name` sets such "
        "records aside"
    )
