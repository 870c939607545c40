"""Records that a task of a Python sink reports: which bytes become the dead letter."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from airflow_kconnect.connect.error_cells import RecordError
from airflow_kconnect.connect.record import SinkRecord
from airflow_kconnect.runtime.bad_records import FailedRecord
from airflow_kconnect.runtime.sink.task_reporter import TaskErrorReporter


def test_a_copy_of_a_replayed_record_is_told_from_one_of_another_partition_with_the_same_offset() -> None:
    told: list[FailedRecord] = []

    def tell(record: FailedRecord, error: RecordError) -> None:
        told.append(record)

    batch = pa.record_batch(
        {
            "kafka_offset": pa.array([70, 71], pa.int64()),
            "original": pa.array([{"value": b"of 0"}, {"value": b"of 1"}], pa.struct([("value", pa.binary())])),
        }
    )
    records = [SinkRecord("t", partition, 5, None, None) for partition in (0, 1)]
    reporter = TaskErrorReporter(tell, tolerant=True)
    reporter.begin(batch, records)
    reporter.report(replace(records[0], value="changed"), ValueError("bad"))
    assert [(record.partition, record.value) for record in told] == [(0, b"of 0")]
