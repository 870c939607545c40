"""Operators for operations against a real broker, and what they mean for the runs of a connector."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import AirflowSkipException

from airflow_kconnect import (
    AlterOffsetsOperator,
    KafkaSourceOperator,
    PauseConnectorOperator,
    ResetOffsetsOperator,
    ResumeConnectorOperator,
    StopConnectorOperator,
)
from airflow_kconnect.errors import ConnectorConfigError, ConnectorRunError
from airflow_kconnect.runs.events import event_line
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.stores.status_topic.run_records import RunRecord, RunState
from airflow_kconnect.stores.status_topic.state import ConnectorStatus
from airflow_kconnect.stores.status_topic.store import StatusStore
from airflow_kconnect.stores.target_states import TargetState, TargetStates
from airflow_kconnect.submit.operations import show_offsets
from airflow_kconnect.submit.statuses import INTERRUPTED, interruptions_shown
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique
from tests.support.airflow.operator_runs import context
from tests.support.spark.fake_spark import FakeSpark, printing

REPORT = RunReport(connector="lines", kind="source", connector_class="C", run_id="r").as_dict()
ALTERED = [{"partition": {"filename": "/data/in"}, "offset": {"position": 7}}]


class Operations:
    """A connector, and the operators of a DAG that has it."""

    def __init__(self, worker: dict[str, str]) -> None:
        self.name, self.worker = unique("lines"), worker
        self.config = {"name": self.name, "connector.class": "FileStreamSource", "file": "/data/in", "topic": "lines"}

    def do(self, operator: type[Any], *, connector: Any = None, run: dict[str, Any] | None = None, **more: Any) -> Any:
        """Run a task."""
        made = operator(
            task_id="t", connector=connector or self.config, worker_config=self.worker, kafka_conn_id=None, **more
        )
        return made.execute(context(**run or {}))

    def offsets(self) -> list[dict[str, Any]]:
        return show_offsets(self.config, self.worker)

    def status(self) -> ConnectorStatus:
        store = StatusStore(WorkerConfig.from_props(self.worker))
        store.refresh()
        return store.connector(self.name)

    def runs(self) -> tuple[RunRecord, ...]:
        store = StatusStore(WorkerConfig.from_props(self.worker))
        store.refresh()
        runs = store.runs(self.name)
        return () if runs is None else runs.runs


@pytest.fixture
def operations(worker_props: dict[str, str]) -> Operations:
    return Operations(worker_props)


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    """A spark-submit that ends with a report."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    spark = FakeSpark(tmp_path)
    spark.behave(printing(event_line("report", report=REPORT)))
    return spark


class TestStates:
    @pytest.mark.parametrize(
        ("operator", "state"), [(PauseConnectorOperator, "PAUSED"), (StopConnectorOperator, "STOPPED")]
    )
    def test_runs_are_skipped_before_spark_starts(
        self, operations: Operations, spark: FakeSpark, operator: type[Any], state: str
    ) -> None:
        assert operations.do(operator) == {"connector": operations.name, "state": state}
        with pytest.raises(AirflowSkipException, match=f"{operations.name} is {state.lower()}: nothing was moved"):
            operations.do(KafkaSourceOperator)
        assert not (spark.folder / "command.json").exists()

    def test_a_connector_that_is_resumed_runs(self, operations: Operations, spark: FakeSpark) -> None:
        operations.do(PauseConnectorOperator, connector=operations.name, force=True)
        operations.do(ResumeConnectorOperator, connector=operations.name)
        assert operations.do(KafkaSourceOperator) == REPORT

    def test_replays_of_a_paused_connector_run(self, operations: Operations, spark: FakeSpark) -> None:
        operations.do(PauseConnectorOperator)
        begin, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
        backfill = {"run_type": "backfill", "data_interval_start": begin, "data_interval_end": end}
        assert operations.do(KafkaSourceOperator, run=backfill) == REPORT


class TestStatuses:
    @pytest.mark.parametrize(
        ("operator", "state"), [(PauseConnectorOperator, "PAUSED"), (StopConnectorOperator, "STOPPED")]
    )
    def test_they_follow_the_target_state(self, operations: Operations, operator: type[Any], state: str) -> None:
        operations.do(operator)
        status = operations.status().status
        assert status is not None
        assert status.state.value == state

    def test_a_skipped_run_shows_what_another_tool_has_set(self, operations: Operations, spark: FakeSpark) -> None:
        TargetStates(WorkerConfig.from_props(operations.worker)).write(operations.name, TargetState.PAUSED)
        with pytest.raises(AirflowSkipException):
            operations.do(KafkaSourceOperator)
        assert [task.state.value for task in operations.status().tasks.values()] == ["PAUSED"]
        assert operations.runs() == ()

    def test_a_configuration_that_no_job_gets_is_a_failure(self, operations: Operations, spark: FakeSpark) -> None:
        with pytest.raises(ConnectorConfigError):
            operations.do(KafkaSourceOperator, connector=operations.config | {"tasks.max": "many"})
        status = operations.status().status
        assert status is not None
        assert status.state.value == "FAILED"
        assert "tasks.max" in (status.trace or "")
        (run,) = operations.runs()
        assert (run.state, "tasks.max" in (run.error or "")) == (RunState.FAILED, True)
        assert run.origin == {"dag": "d", "task": "t", "run": "manual__1", "map_index": -1, "try": 2}

    @pytest.mark.parametrize("exit_code", [0, 137])
    def test_a_job_that_could_not_report_is_a_failure(
        self, operations: Operations, spark: FakeSpark, exit_code: int
    ) -> None:
        spark.behave(printing("killed", exit_code=exit_code))
        with pytest.raises(ConnectorRunError):
            operations.do(KafkaSourceOperator)
        assert "before it could report" in (operations.status().tasks[0].trace or "")
        assert [(run.id, run.state) for run in operations.runs()] == [("d/manual__1/t#2", RunState.FAILED)]

    def test_a_backfill_that_could_not_report_has_failed_and_the_connector_has_not(
        self, operations: Operations, spark: FakeSpark
    ) -> None:
        spark.behave(printing("killed", exit_code=137))
        begin, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
        backfill = {"run_type": "backfill", "data_interval_start": begin, "data_interval_end": end}
        with pytest.raises(ConnectorRunError):
            operations.do(KafkaSourceOperator, run=backfill)
        assert operations.status() == ConnectorStatus()
        assert [run.replay for run in operations.runs()] == ["2026-01-01T00:00:00Z/2026-01-02T00:00:00Z"]

    def test_a_task_that_is_killed_has_failed_and_the_connector_has_not(
        self, operations: Operations, spark: FakeSpark
    ) -> None:
        spec = RunSpec(operations.config, operations.worker, run_id="r")
        with pytest.raises(SystemExit), interruptions_shown(spec, lambda: operations.worker):
            raise SystemExit
        assert operations.status() == ConnectorStatus()
        assert [(run.state, run.error) for run in operations.runs()] == [(RunState.FAILED, INTERRUPTED)]


class TestOffsets:
    def test_altered_ones_are_committed(self, operations: Operations) -> None:
        operations.do(StopConnectorOperator)
        done = operations.do(AlterOffsetsOperator, offsets=ALTERED)
        assert done["message"] == "The offsets for this connector have been altered successfully"
        assert operations.offsets() == ALTERED

    def test_reset_ones_are_gone(self, operations: Operations) -> None:
        operations.do(StopConnectorOperator)
        operations.do(AlterOffsetsOperator, offsets=ALTERED)
        operations.do(ResetOffsetsOperator)
        assert operations.offsets() == []

    def test_those_of_a_started_connector_stay_and_the_task_is_not_retried(self, operations: Operations) -> None:
        with pytest.raises(ConnectorConfigError, match="must be in the STOPPED state"):
            operations.do(AlterOffsetsOperator, offsets=ALTERED)
