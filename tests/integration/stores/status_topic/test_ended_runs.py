"""Entries of many runs that had nothing to do, written together."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from airflow_kconnect.stores.status_topic import ended_runs
from airflow_kconnect.stores.status_topic.ended_runs import EndedRun, tell_ended
from airflow_kconnect.stores.status_topic.run_facts import RunFacts
from airflow_kconnect.stores.status_topic.run_history import RunHistory, now_ms
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunRecord, RunState
from airflow_kconnect.stores.status_topic.store import StatusStore
from airflow_kconnect.stores.status_topic.writing import StatusWriter
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique

NAMES = [f"c{n}" for n in range(30)]


@pytest.fixture(scope="module")
def worker(bootstrap: str) -> WorkerConfig:
    """With a status topic of its own."""
    return WorkerConfig.from_props({"bootstrap.servers": bootstrap, "status.storage.topic": unique("status")})


@pytest.fixture
def store(worker: WorkerConfig) -> Iterator[StatusStore]:
    store = StatusStore(worker)
    yield store
    store.close()


def ended(name: str, run_id: str) -> EndedRun:
    run = RunRecord(run_id, RunState.RUNNING, now_ms()).ended(now_ms())
    return EndedRun(name, run, ConnectorRuns(kind="sink", connector_class="C"), ("t",), "1")


def ids(store: StatusStore, name: str) -> list[str]:
    store.refresh()
    return [run.id for run in (store.runs(name) or ConnectorRuns()).runs]


def tell_running(worker: WorkerConfig, name: str, run_id: str) -> None:
    writer = StatusWriter(worker, name)
    RunHistory(writer, name, RunRecord(run_id, RunState.RUNNING, 1), RunFacts).began(RunFacts)
    writer.close()


def test_each_connector_has_its_entry_and_is_running(worker: WorkerConfig, store: StatusStore) -> None:
    for run_id in ("first", "second"):
        tell_ended(worker, [ended(name, run_id) for name in NAMES])
    assert {tuple(sorted(ids(store, name))) for name in NAMES} == {("first", "second")}
    statuses = [store.connector(name) for name in NAMES]
    assert {status.status.state.value for status in statuses if status.status is not None} == {"RUNNING"}
    assert {(runs.kind, runs.topics) for name in NAMES if (runs := store.runs(name))} == {("sink", ("t",))}


def test_records_are_found_however_far_back_they_are(
    worker: WorkerConfig, store: StatusStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ended_runs, "_FIRST_LOOK", 1)
    monkeypatch.setattr(ended_runs, "_OF_EACH", 1)
    old, other = unique("old"), unique("other")
    tell_ended(worker, [ended(old, "first")])
    for n in range(3):
        tell_ended(worker, [ended(f"{other}-{m}", str(n)) for m in range(10)])
    tell_ended(worker, [ended(old, "second")])
    assert set(ids(store, old)) == {"first", "second"}


def test_a_run_that_is_at_work_stays_so(worker: WorkerConfig, store: StatusStore) -> None:
    name = unique("busy")
    tell_running(worker, name, "busy")
    tell_ended(worker, [ended(name, "idle")])
    store.refresh()
    states = {run.id: run.state for run in (store.runs(name) or ConnectorRuns()).runs}
    assert states == {"busy": RunState.RUNNING, "idle": RunState.SUCCESS}


def test_entries_that_are_written_at_the_same_moment_are_all_there(worker: WorkerConfig, store: StatusStore) -> None:
    names = [unique("at-once") for _ in range(10)]
    threads = [
        threading.Thread(target=tell_ended, args=(worker, [ended(name, f"run-{n}") for name in names]))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {tuple(sorted(ids(store, name))) for name in names} == {("run-0", "run-1", "run-2", "run-3")}


def test_a_connector_that_was_deleted_meanwhile_stays_deleted(
    worker: WorkerConfig, store: StatusStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = unique("deleted")
    tell_ended(worker, [ended(name, "first")])
    look = ended_runs._Entries._look

    def deleted_after(entries: ended_runs._Entries) -> dict[bytes, ConnectorRuns | None]:
        found = look(entries)
        StatusStore(worker).remove(name)
        return found

    monkeypatch.setattr(ended_runs._Entries, "_look", deleted_after)
    tell_ended(worker, [ended(name, "second")])
    assert ids(store, name) == []


def test_nothing_is_written_without_a_status_topic(bootstrap: str) -> None:
    tell_ended(WorkerConfig.from_props({"bootstrap.servers": bootstrap}), [ended("c", "r")])


def test_an_entry_that_cannot_be_read_is_replaced(worker: WorkerConfig, store: StatusStore) -> None:
    name = unique("unreadable")
    writer = StatusWriter(worker, name)
    writer.do(lambda: writer.produce(ended(name, "r").key, b"nonsense"))
    writer.close()
    tell_ended(worker, [ended(name, "r")])
    assert ids(store, name) == ["r"]
