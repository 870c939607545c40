"""Records that a task of a Python sink reports: which bytes become the dead letter."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from airflow_kconnect.connect.error_cells import RecordError
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import SinkRecord
from airflow_kconnect.runtime.bad_records import FailedRecord
from airflow_kconnect.runtime.sink.task_reporter import TaskErrorReporter


class Told(list[tuple[int | str, bytes | None]]):
    """The partition and the value of each dead letter."""

    def tell(self, record: FailedRecord, error: RecordError) -> None:
        self.append((record.partition, record.value))


BATCH = pa.record_batch(
    {
        "kafka_offset": pa.array([70, 71], pa.int64()),
        "original": pa.array([{"value": b"of 0"}, {"value": b"of 1"}], pa.struct([("value", pa.binary())])),
    }
)
RECORDS = [SinkRecord("t", partition, 5, None, None) for partition in (0, 1)]


def test_a_copy_of_a_replayed_record_is_told_from_one_of_another_partition_with_the_same_offset() -> None:
    told = Told()
    reporter = TaskErrorReporter(told.tell, tolerant=True)
    reporter.begin(BATCH, RECORDS)
    reporter.report(replace(RECORDS[0], value="changed"), ValueError("bad"))
    assert told == [(0, b"of 0")]


def test_a_record_that_is_put_again_becomes_one_dead_letter() -> None:
    told = Told()
    reporter = TaskErrorReporter(told.tell, tolerant=True)
    for _ in range(3):
        reporter.begin(BATCH, RECORDS)
        reporter.report(RECORDS[1], ValueError("bad"))
    assert (told, reporter.reported) == ([(1, b"of 1")], 1)


def test_the_error_of_a_record_whose_topic_was_renamed_says_where_it_was_read() -> None:
    reporter = TaskErrorReporter(Told().tell, tolerant=False)
    reporter.begin(BATCH, RECORDS)
    with pytest.raises(DataError, match=r"^bad record at orders-0@5: "):
        reporter.report(replace(RECORDS[0], original_topic="orders"), ValueError("bad"))
