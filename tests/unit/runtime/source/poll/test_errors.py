"""An error of a task is the last row of its Spark partition."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pyspark import TaskContext

from airflow_kconnect.connect.data import INT64_SCHEMA
from airflow_kconnect.connect.error_cells import error_from_column
from airflow_kconnect.connect.errors import ConnectError, DataError, RetriableError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.runtime.source import poll as poll_source
from airflow_kconnect.runtime.source.poll import PollSettings, _poller
from tests.support.connectors.scripted_task import PARTITION, MakeSettings, NoConstructor, NoStart, Scripted, records


@pytest.fixture
def spark_task(monkeypatch: pytest.MonkeyPatch) -> TaskContext:
    """This process pretends to be the first attempt of Spark partition 0."""
    monkeypatch.setattr(TaskContext, "_taskContext", None)  # what the next line changes is undone
    context = TaskContext._getOrCreate()
    context._partitionId, context._attemptNumber = 0, 0
    return context


def run_poller(settings: PollSettings) -> list[dict[str, Any]]:
    rows = pa.RecordBatch.from_arrays([pa.array([0])], ["id"])
    return [row for batch in _poller(settings)(iter([rows])) for row in batch.to_pylist()]


@pytest.mark.usefixtures("spark_task")
class TestErrors:
    def error(self, settings: PollSettings) -> ConnectError:
        return error_from_column(run_poller(settings)[-1]["error"], "task 0")

    def test_an_error_of_ours_becomes_the_last_row(self, scripted: Scripted, settings: MakeSettings) -> None:
        scripted(RetriableError("database is unavailable"))
        error = self.error(settings())
        assert (type(error), str(error)) == (RetriableError, "database is unavailable")

    def test_any_other_error_becomes_a_data_error_with_the_tasks_name(
        self, scripted: Scripted, settings: MakeSettings
    ) -> None:
        scripted(KeyError("column"))
        error = self.error(settings())
        assert (type(error), str(error)) == (DataError, "ScriptedTask of task 0 failed: KeyError: 'column'")

    def test_records_before_an_error_come_before_it(
        self, scripted: Scripted, settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(poll_source, "_BATCH_ROWS", 1)
        scripted(records(1), ValueError("bad"))
        assert [row["topic"] for row in run_poller(settings())] == ["t", None]

    def test_an_error_of_start_becomes_the_only_row(self, scripted: Scripted, settings: MakeSettings) -> None:
        scripted()
        assert isinstance(self.error(settings(NoStart)), RetriableError)

    def test_a_schema_that_was_not_declared_becomes_the_last_row(
        self, scripted: Scripted, settings: MakeSettings
    ) -> None:
        scripted([SourceRecord(PARTITION, {"n": 1}, "t", 1.5, INT64_SCHEMA)], None)
        assert "did not declare" in str(self.error(settings()))

    def test_an_error_of_the_constructor_becomes_the_only_row(self, settings: MakeSettings) -> None:
        assert "no driver" in str(self.error(settings(NoConstructor)))

    def test_a_second_attempt_is_left_to_the_next_run(
        self, scripted: Scripted, settings: MakeSettings, spark_task: TaskContext
    ) -> None:
        """Its offsets were read before the first attempt, which may have committed since."""
        calls = scripted(records(1))
        spark_task._attemptNumber = 1
        assert (type(self.error(settings())), calls) == (RetriableError, [])

    def test_a_run_without_errors_has_none(self, scripted: Scripted, settings: MakeSettings) -> None:
        scripted(records(1, 2), None)
        assert [row["error"] for row in run_poller(settings(stop_timeout_s=0.0))] == [None, None]
