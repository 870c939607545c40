"""Kafka Connect 4.3 itself on topics that we have written, and we on what it has written."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from airflow_kconnect.connect.errors import ConnectError, DataError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.stores.config_topic.state import ConnectorState
from airflow_kconnect.stores.config_topic.store import ConfigStore
from airflow_kconnect.stores.status_topic.records import State
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunRecord, RunState
from airflow_kconnect.stores.status_topic.runs import RunStatuses
from airflow_kconnect.stores.status_topic.store import StatusStore
from airflow_kconnect.stores.target_states import TargetState
from airflow_kconnect.stores.topics import ensure_offset_topic
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique
from tests.support.connect.records import put_runs, put_tasks
from tests.support.connect.worker import ConnectWorker
from tests.support.kafka import create_topic

pytestmark = [pytest.mark.connect, pytest.mark.timeout(400)]

T = TypeVar("T")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("connect")


@pytest.fixture(scope="module")
def lines(folder: Path) -> Path:
    path = folder / "lines.txt"
    path.write_text("one\ntwo\n")
    return path


@pytest.fixture(scope="module")
def worker(bootstrap: str) -> WorkerConfig:
    """The worker group of both."""
    group = unique("connect")
    props = {f"{store}.storage.topic": f"{group}-{store}" for store in ("offset", "config", "status")}
    return WorkerConfig.from_props({"bootstrap.servers": bootstrap, "group.id": group, **props})


@pytest.fixture(scope="module")
def target(bootstrap: str) -> str:
    """Where the connectors write to."""
    return create_topic(bootstrap, unique("target"))


def source(name: str, path: Path, topic: str) -> dict[str, str]:
    return {
        "name": name,
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "tasks.max": "1",
        "file": str(path),
        "topic": topic,
    }


@pytest.fixture(scope="module")
def written(worker: WorkerConfig, lines: Path, target: str) -> None:
    """What we have written before the worker of Connect starts."""
    with ConfigStore(worker).writing() as writer:
        writer.put_connector("stopped", source("stopped", lines, target), TargetState.STOPPED)
        task = {**source("stopped", lines, target), "task.class": "org.apache.kafka.connect.file.FileStreamSourceTask"}
        put_tasks(writer, "stopped", [task])
        put_tasks(writer, "stopped", [])
        writer.put_connector("started", source("started", lines, target), TargetState.STARTED)
        writer.put_connector("deleted", source("deleted", lines, target))
        writer.remove_connector("deleted")
    # Its id is added to what Connect itself writes of a topic.
    ensure_offset_topic(KafkaAdmin(ClientConfigs(worker.props).admin()), worker, worker.offset_topic)
    run = RunStatuses(worker, "stopped", "0.1")
    run.running()
    run.used(["t"], worker.offset_topic)
    run.close()
    store = StatusStore(worker)
    for name in ("stopped", "no status"):
        put_runs(store, name, ConnectorRuns(kind="source", runs=(RunRecord("r", RunState.SUCCESS, 1, 2),)))
    store.close()


@pytest.fixture(scope="module")
def connect(written: None, worker: WorkerConfig, folder: Path, bootstrap: str) -> Iterator[ConnectWorker]:
    with ConnectWorker(
        folder / "worker",
        bootstrap=bootstrap,
        group_id=worker.group_id,
        offset_topic=worker.offset_topic,
        config_topic=worker.config_topic,
        status_topic=worker.status_topic,
        heap_mb=256,
    ) as running:
        yield running


def _until(ask: Callable[[], T], holds: Callable[[T], bool], timeout_s: float = 90) -> T:
    deadline = time.monotonic() + timeout_s
    found: T | ConnectError
    while True:
        try:
            found = ask()
            if holds(found):
                return found
        except ConnectError as error:
            found = error
        assert time.monotonic() < deadline, found
        time.sleep(0.3)


def _configured(store: ConfigStore, name: str) -> ConnectorState | None:
    return store.refresh().connector(name)


class TestConnectReadsOurs:
    def test_it_lists_the_connectors(self, connect: ConnectWorker) -> None:
        assert sorted(connect.connectors()) == ["started", "stopped"]

    def test_it_has_their_configuration(self, connect: ConnectWorker, lines: Path, target: str) -> None:
        assert connect._call("GET", "/connectors/stopped/config") == source("stopped", lines, target)

    def test_it_obeys_the_target_state(self, connect: ConnectWorker) -> None:
        found = _until(lambda: connect.status("stopped"), lambda status: status["connector"]["state"] == "STOPPED")
        assert found["connector"]["state"] == "STOPPED"

    def test_it_skips_what_runs_tell_about_themselves(self, connect: ConnectWorker, worker: WorkerConfig) -> None:
        assert "key kconnect-runs-stopped" in connect.log.read_text(errors="replace")
        store = StatusStore(worker)
        store.refresh()
        assert sorted(store.all_runs()) == ["no status", "stopped"]

    def test_it_runs_what_is_started(self, connect: ConnectWorker) -> None:
        connect.wait_running("started", timeout_s=120)

    def test_it_shows_the_topics_that_we_have_recorded(self, connect: ConnectWorker, worker: WorkerConfig) -> None:
        store = StatusStore(worker)
        store.refresh()
        assert store.connector("stopped").topics["t"].offset_topic_id is not None
        assert connect._call("GET", "/connectors/stopped/topics") == {"stopped": {"topics": ["t"]}}


class TestWeReadConnects:
    @pytest.fixture
    def config(self, worker: WorkerConfig) -> Iterator[ConfigStore]:
        store = ConfigStore(worker, follow=True)
        yield store
        store.close()

    @pytest.fixture
    def status(self, worker: WorkerConfig) -> Iterator[StatusStore]:
        store = StatusStore(worker, follow=True)
        yield store
        store.close()

    def test_connector_target_state_and_statuses(
        self, connect: ConnectWorker, config: ConfigStore, status: StatusStore, folder: Path, target: str
    ) -> None:
        path = folder / "other.txt"
        path.write_text("one\n")
        connect.create("theirs", source("theirs", path, target))
        connect.wait_running("theirs", timeout_s=120)
        found = _until(lambda: _configured(config, "theirs"), lambda it: it is not None)
        assert found is not None
        assert (found.config, found.target_state) == (source("theirs", path, target), TargetState.STARTED)

        status.refresh()
        seen = _until(lambda: status.connector("theirs"), lambda it: target in it.topics)
        assert seen.status is not None
        assert (seen.status.state, seen.status.version) == (State.RUNNING, "4.3.0")
        assert [task.state for task in seen.tasks.values()] == [State.RUNNING]

        connect.stop_connector("theirs")
        stopped = _configured(config, "theirs")
        assert stopped is not None
        assert stopped.target_state is TargetState.STOPPED

        connect.delete("theirs")
        assert _configured(config, "theirs") is None
        _until(lambda: status.connector("theirs"), lambda it: it.status is None and not it.tasks)


class TestTogether:
    def test_what_we_write_while_it_runs_takes_effect_there(
        self, connect: ConnectWorker, worker: WorkerConfig, lines: Path, target: str
    ) -> None:
        store = ConfigStore(worker)
        store.put_target_states(["started"], TargetState.PAUSED)
        connect.wait_for("started", "PAUSED", timeout_s=120)

    def test_after_it_was_fenced_its_leader_writes_again(
        self, connect: ConnectWorker, worker: WorkerConfig, lines: Path, target: str
    ) -> None:
        store = ConfigStore(worker)
        with store.writing() as writer:
            writer.put_connector("ours", source("ours", lines, target))
        _until(connect.connectors, lambda names: "ours" in names)
        _until(lambda: connect._call("PUT", "/connectors/late/config", source("late", lines, target)), lambda _: True)
        assert "late" in store.refresh().connectors

    def test_it_shows_the_failure_of_a_run_of_ours(self, connect: ConnectWorker, worker: WorkerConfig) -> None:
        # After each of its rebalances the leader removes statuses of tasks that are not in the config topic.
        connect.wait_running("ours", timeout_s=120)
        connect.wait_running("late", timeout_s=120)
        run = RunStatuses(worker, "stopped", "0.1")
        run.running()
        run.failed(DataError("record t-0@7 is bad"))
        run.close()
        found = _until(
            lambda: connect.status("stopped"),
            lambda status: [task["state"] for task in status["tasks"]] == ["FAILED"],
        )
        assert found["connector"]["state"] == "RUNNING"
        assert found["tasks"][0]["trace"] == "airflow_kconnect.connect.errors.DataError: record t-0@7 is bad"
