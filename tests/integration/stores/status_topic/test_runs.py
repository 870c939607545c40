"""Statuses that runs write, on a thread of their own."""

from __future__ import annotations

import logging
import threading
import time

import pytest

from airflow_kconnect.connect.errors import ConfigError, DataError, FencedError
from airflow_kconnect.stores.status_topic.records import TRACE_MAX, ConnectorKey, State, Status, TaskKey
from airflow_kconnect.stores.status_topic.runs import RunStatuses
from airflow_kconnect.stores.status_topic.state import ConnectorStatus
from airflow_kconnect.stores.status_topic.store import StatusStore
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique
from tests.support.connect.records import may_replace
from tests.support.kafka import create_topic, read_all


@pytest.fixture
def worker(bootstrap: str) -> WorkerConfig:
    """A worker group whose status topic does not exist."""
    return WorkerConfig.from_props({"bootstrap.servers": bootstrap, "status.storage.topic": unique("status")})


def _seen(worker: WorkerConfig, name: str = "c") -> ConnectorStatus:
    store = StatusStore(worker)
    store.refresh()
    return store.connector(name)


def _states(worker: WorkerConfig) -> tuple[str, dict[int, str]]:
    seen = _seen(worker)
    assert seen.status is not None
    return seen.status.state.value, {task: status.state.value for task, status in seen.tasks.items()}


class TestStates:
    def test_a_run_that_ended_well_leaves_connector_and_task_running(
        self, worker: WorkerConfig, bootstrap: str
    ) -> None:
        run = RunStatuses(worker, "c", "1.0")
        run.running()
        run.used(["t"])
        run.close()
        assert _states(worker) == ("RUNNING", {0: "RUNNING"})
        seen = _seen(worker)
        assert (list(seen.topics), seen.status and seen.status.version) == (["t"], "1.0")
        assert may_replace(Status(State.FAILED, "127.0.0.1:8083", 1, "why"), seen.tasks[0])  # a worker of Connect
        keys = {record.key for record in read_all(bootstrap, worker.status_topic)}
        assert {ConnectorKey("c").encode(), TaskKey("c", 0).encode()} < keys

    def test_an_error_is_one_of_the_task(self, worker: WorkerConfig) -> None:
        run = RunStatuses(worker, "c", "1.0")
        run.running()
        run.failed(DataError("record t-0@7 is bad"))
        run.close()
        assert _states(worker) == ("RUNNING", {0: "FAILED"})
        trace = _seen(worker).tasks[0].trace
        assert trace == "airflow_kconnect.connect.errors.DataError: record t-0@7 is bad"

    def test_a_wrong_configuration_is_an_error_of_the_connector(self, worker: WorkerConfig) -> None:
        run = RunStatuses(worker, "c", "1.0")
        run.failed(ConfigError({"file": ["is missing"]}, "c"))
        run.close()
        assert _states(worker) == ("FAILED", {0: "FAILED"})

    def test_a_run_that_was_fenced_leaves_the_status_to_its_successor(self, worker: WorkerConfig) -> None:
        run = RunStatuses(worker, "c", "1.0")
        run.running()
        run.failed(FencedError("a newer run"))
        run.close()
        assert _states(worker) == ("RUNNING", {0: "RUNNING"})

    def test_a_failure_does_not_hide_that_a_newer_run_has_begun(self, worker: WorkerConfig) -> None:
        old, new = RunStatuses(worker, "c", "1.0"), RunStatuses(worker, "c", "1.0")
        old.running()
        old._do(old._writer.flush)
        deadline = time.monotonic() + 30
        while len(old._writer._written) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        new.running()
        new.close()
        old.failed(DataError("late"))
        old.close()
        assert _states(worker) == ("RUNNING", {0: "RUNNING"})

    def test_paused(self, worker: WorkerConfig) -> None:
        run = RunStatuses(worker, "c", "1.0")
        run.paused()
        run.close()
        assert _states(worker) == ("PAUSED", {0: "PAUSED"})

    def test_a_stopped_connector_has_no_tasks(self, worker: WorkerConfig) -> None:
        run = RunStatuses(worker, "c", "1.0")
        run.running()
        run.stopped()
        run.close()
        assert _states(worker) == ("STOPPED", {})


class TestTraces:
    def test_secrets_are_replaced(self, worker: WorkerConfig) -> None:
        run = RunStatuses(worker, "c", "1.0", hide=lambda text: text.replace("hunter2", "${file:x}"))
        run.failed(DataError("login with hunter2 failed"))
        run.close()
        assert (_seen(worker).tasks[0].trace or "").endswith("login with ${file:x} failed")

    def test_they_are_of_limited_length(self, worker: WorkerConfig) -> None:
        run = RunStatuses(worker, "c", "1.0")
        run.failed(DataError("x" * 1_000_000))
        run.close()
        assert TRACE_MAX < len(_seen(worker).tasks[0].trace or "") < TRACE_MAX + 100

    def test_an_unexpected_error_has_its_lines_of_code(self, worker: WorkerConfig) -> None:
        run = RunStatuses(worker, "c", "1.0")
        try:
            raise ZeroDivisionError("here")
        except ZeroDivisionError as error:
            run.failed(error)
        run.close()
        assert "test_runs.py" in (_seen(worker).tasks[0].trace or "")


class TestNothingElse:
    def test_without_the_key_nothing_is_written(self, bootstrap: str) -> None:
        worker, before = WorkerConfig.from_props({"bootstrap.servers": bootstrap}), {*threading.enumerate()}
        run = RunStatuses(worker, "c", "1.0")
        run.running()
        run.close()
        assert "statuses" not in {thread.name for thread in {*threading.enumerate()} - before}

    def test_topics_are_not_recorded_if_tracking_is_off(self, bootstrap: str) -> None:
        props = {"bootstrap.servers": bootstrap, "status.storage.topic": unique("status")}
        worker = WorkerConfig.from_props({**props, "topic.tracking.enable": "false"})
        run = RunStatuses(worker, "c", "1.0")
        run.running()
        run.used(["t"])
        run.close()
        assert not _seen(worker).topics


class TestTrouble:
    def test_a_broker_that_is_unavailable_is_a_warning_and_a_bounded_wait(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        worker = WorkerConfig.from_props({"bootstrap.servers": "localhost:1", "status.storage.topic": "s"})
        run = RunStatuses(worker, "c", "1.0", limit_s=3.0)
        begin = time.monotonic()
        with caplog.at_level(logging.WARNING):
            run.running()
            assert time.monotonic() - begin < 2
            run.close()
        assert time.monotonic() - begin < 15
        assert "the status of connector c was not written" in caplog.text

    def test_a_topic_that_is_not_compacted_is_a_warning(
        self, worker: WorkerConfig, bootstrap: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        create_topic(bootstrap, worker.status_topic)
        run = RunStatuses(worker, "c", "1.0")
        with caplog.at_level(logging.WARNING):
            run.running()
            run.close()
        assert "cleanup.policy=delete" in caplog.text
