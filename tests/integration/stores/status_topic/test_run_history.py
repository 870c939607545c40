"""The record of a connector's runs, written by several runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError, FencedError
from airflow_kconnect.kafka.partitions import partition_of
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.stores.status_topic import run_history
from airflow_kconnect.stores.status_topic.records import ConnectorKey, State, Status
from airflow_kconnect.stores.status_topic.run_facts import RunFacts, facts_of
from airflow_kconnect.stores.status_topic.run_history import RunHistory
from airflow_kconnect.stores.status_topic.run_records import MOST_RUNS, ConnectorRuns, RunRecord, RunsKey, RunState
from airflow_kconnect.stores.status_topic.store import StatusStore
from airflow_kconnect.stores.status_topic.writing import StatusWriter
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique
from tests.support.connect.records import put_runs, put_status
from tests.support.kafka import produce

REPORT = RunReport("c", "sink", "x.Sink", "r", records={"read": 3, "written": 3}, topics=["t"])
SINK = ConnectorRuns(kind="sink", connector_class="x.Sink")


@pytest.fixture
def worker(bootstrap: str) -> WorkerConfig:
    """A worker group whose status topic does not exist."""
    return WorkerConfig.from_props({"bootstrap.servers": bootstrap, "status.storage.topic": unique("status")})


class Runs:
    """Runs of the connector `c`, and what they have told."""

    def __init__(self, worker: WorkerConfig) -> None:
        self.worker, self.store = worker, StatusStore(worker)
        self._writers: list[StatusWriter] = []
        self._n = 0

    def begin(self, run_id: str, facts: ConnectorRuns = SINK, **more: Any) -> RunHistory:
        """A later run than those before."""
        self._n += 1
        options = {key: more.pop(key) for key in ("hide", "of_other") if key in more}
        entry = RunRecord(run_id, RunState.RUNNING, self._n, **more)
        self._writers.append(StatusWriter(self.worker, "c"))
        history = RunHistory(self._writers[-1], "c", entry, lambda: RunFacts(facts), **options)
        if not options.get("of_other"):
            history.began(lambda: RunFacts(facts))
        self.settle()
        return history

    def settle(self) -> None:
        """Return once all is written that was told until now."""
        for writer in self._writers:
            done = threading.Event()
            writer.do(done.set)
            assert done.wait(30)

    def told(self) -> ConnectorRuns:
        """The record."""
        self.settle()
        self.store.refresh()
        return self.store.runs("c") or ConnectorRuns()

    def states(self) -> dict[str, str]:
        """State by run, the newest first."""
        return {run.id: run.state.value for run in self.told().runs}

    def close(self) -> None:
        for writer in self._writers:
            writer.close()
        self.store.close()


@pytest.fixture
def runs(worker: WorkerConfig) -> Iterator[Runs]:
    """No run yet."""
    of_test = Runs(worker)
    yield of_test
    of_test.close()


def test_a_run_tells_that_it_runs_and_how_it_ended(runs: Runs) -> None:
    run = runs.begin("a", origin={"file": "/x.json", "host": "h"})
    assert runs.states() == {"a": "running"}
    run.ended(REPORT)
    (entry,) = runs.told().runs
    assert (entry.state, entry.records, entry.complete) == (RunState.SUCCESS, REPORT.records, True)
    assert entry.origin == {"file": "/x.json", "host": "h"}
    assert (runs.told().kind, runs.told().topics) == ("sink", ("t",))


def test_runs_are_kept_the_newest_first(runs: Runs) -> None:
    for n in range(3):
        runs.begin(f"{n}").ended(REPORT)
    assert list(runs.states()) == ["2", "1", "0"]


def test_the_record_is_found_however_far_back_it_is(
    runs: Runs, bootstrap: str, worker: WorkerConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_history, "_FIRST_LOOK", 2)
    runs.begin("a").ended(REPORT)
    runs.settle()
    same = next(f"c{n}" for n in range(99) if _partition(ConnectorKey(f"c{n}")) == _partition(RunsKey("c")))
    for _ in range(50):
        produce(
            bootstrap, worker.status_topic, [Status(State.RUNNING, "w", 0).encode()], key=f"status-connector-{same}"
        )
    runs.begin("b").ended(REPORT)
    assert runs.states() == {"b": "success", "a": "success"}


def _partition(key: ConnectorKey | RunsKey) -> int:
    return partition_of(key.encode(), 5)


class TestTwoRunsAtOnce:
    def test_a_fenced_run_does_not_hide_its_successor(self, runs: Runs) -> None:
        old = runs.begin("old", ConnectorRuns(config={"v": "1"}))
        runs.begin("new", ConnectorRuns(config={"v": "2"})).ended(REPORT)
        runs.settle()
        old.ended(None, FencedError("connector c: a newer run has taken over"))
        assert runs.states() == {"new": "success", "old": "failed"}
        assert runs.told().config == {"v": "2"}

    def test_runs_that_write_at_the_same_moment_are_all_there(self, worker: WorkerConfig, runs: Runs) -> None:
        histories = [runs.begin(f"{n:02}") for n in range(8)]
        gate = threading.Barrier(len(histories))
        for history, writer in zip(histories, runs._writers, strict=True):
            writer.do(lambda: (gate.wait(30), None)[1])
            history.ended(REPORT, FencedError("at once"))
        assert set(runs.states().values()) == {"failed"}
        assert len(runs.states()) == len(histories)

    def test_a_run_that_ended_well_shows_that_an_older_one_was_killed(self, runs: Runs) -> None:
        runs.begin("killed")
        runs.begin("replay", replay="dead letters")
        runs.begin("new").ended(REPORT)
        assert runs.states() == {"new": "success", "replay": "running", "killed": "failed"}

    def test_a_run_that_found_another_at_work_leaves_no_entry(self, runs: Runs) -> None:
        runs.begin("at work")
        runs.begin("second").dropped()
        assert runs.states() == {"at work": "running"}


class TestRunsOfOthers:
    def test_a_job_that_was_killed_has_failed_and_what_it_told_stays(self, runs: Runs) -> None:
        runs.begin("a", origin={"dag": "d"})
        runs.begin("a", of_other=True).ended(None, "the job ended before it could report")
        (entry,) = runs.told().runs
        assert (entry.state, entry.error) == (RunState.FAILED, "the job ended before it could report")
        assert (entry.origin, entry.start_ms) == ({"dag": "d"}, 1)

    def test_how_a_run_said_that_it_ended_stays(self, runs: Runs) -> None:
        runs.begin("a").ended(REPORT)
        runs.settle()
        runs.begin("a", of_other=True).ended(None, "no report")
        assert runs.states() == {"a": "success"}

    def test_a_run_that_did_not_begin_has_failed(self, runs: Runs) -> None:
        runs.begin("a", of_other=True).ended(None, ConfigError({"b": ["is bad"], "d": ["is worse"]}, "c"))
        (entry,) = runs.told().runs
        assert entry.error == "Configuration of connector c is invalid, 2 errors: `b`: is bad"


class TestReplays:
    def test_a_replay_leaves_the_connector_as_it_was(self, runs: Runs) -> None:
        runs.begin("a", ConnectorRuns(config={"v": "1"})).ended(REPORT)
        runs.settle()
        runs.begin("b", ConnectorRuns(config={"v": "2"}), replay="dead letters").ended(REPORT)
        assert runs.told().config == {"v": "1"}
        assert [run.id for run in runs.told().live] == ["a"]


def test_a_connector_that_was_deleted_while_it_ran_stays_deleted(runs: Runs) -> None:
    run = runs.begin("a")
    runs.told()
    runs.store.remove("c")
    run.ended(REPORT)
    assert runs.told() == ConnectorRuns()


def test_progress_is_told_now_and_then(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.begin("a")
    event = {"records": 7, "expected": None, "rate": 3.5}
    run.progressed(event)
    assert runs.told().runs[0].progress is None
    monkeypatch.setattr(run_history, "PROGRESS_S", 0.0)
    run.progressed(event)
    progress = runs.told().runs[0].progress
    assert progress is not None
    assert (progress.records, progress.rate) == (7, 3.5)
    run.ended(REPORT)
    assert runs.told().runs[0].progress is None


def test_garbage_is_replaced(runs: Runs, bootstrap: str, worker: WorkerConfig) -> None:
    put_status(runs.store, ConnectorKey("c"), Status(State.RUNNING, "w", 0))
    produce(bootstrap, worker.status_topic, ["no JSON"], key="kconnect-runs-c")
    runs.begin("a").ended(REPORT)
    assert runs.states() == {"a": "success"}


def test_old_runs_make_room(runs: Runs) -> None:
    full = ConnectorRuns().with_runs(RunRecord(f"old {n}", RunState.SUCCESS, -n, 0) for n in range(MOST_RUNS))
    put_runs(runs.store, "c", full)
    runs.begin("new").ended(REPORT)
    assert len(runs.states()) == MOST_RUNS
    assert next(iter(runs.states())) == "new"


def test_secrets_are_in_no_text(runs: Runs, worker: WorkerConfig) -> None:
    config = {"name": "c", "connector.class": "FileStreamSink", "file": "${env:F}", "my.password": "hunter22"}
    writer = StatusWriter(worker, "c")
    entry = RunRecord("a", RunState.RUNNING, 1)
    run = RunHistory(
        writer, "c", entry, lambda: facts_of(config, "sink"), hide=lambda text: text.replace("geheim", "${env:F}")
    )
    run.ended(replace(REPORT, warnings=["hunter22 is wrong"]), ConfigError({"file": ["geheim, hunter22"]}))
    writer.close()
    value = runs.told().encode()
    assert b"[hidden] is wrong" in value
    assert b"hunter22" not in value
    assert b"geheim" not in value


def test_a_topic_that_cannot_be_read_is_a_warning(
    runs: Runs, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> Callable[[], None]:
        raise ConfigError({"status.storage.topic": ["reading is not permitted"]})

    monkeypatch.setattr(RunHistory, "_look", refused)
    with caplog.at_level(logging.WARNING):
        runs.begin("a").ended(REPORT)
        runs.settle()
    assert caplog.text.count("was not added to those of connector c") == 1
