"""Reading the status topic as Connect does."""

from __future__ import annotations

import logging

import pytest

from airflow_kconnect.kafka.log import LogRecord
from airflow_kconnect.stores.status_topic.records import ConnectorKey, State, Status, TaskKey, TopicKey, TopicStatus
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunRecord, RunsKey, RunState
from airflow_kconnect.stores.status_topic.state import StatusTopicState

RUNNING, UNASSIGNED, FAILED = State.RUNNING, State.UNASSIGNED, State.FAILED
C, C0 = ConnectorKey("c"), TaskKey("c", 0)
TOPIC = TopicStatus("t", "c", 0, 1)
RUNS = ConnectorRuns(kind="sink", runs=(RunRecord("r", RunState.SUCCESS, 1, 2),))


def fold(*entries: tuple[ConnectorKey | TaskKey | TopicKey, Status | TopicStatus | None]) -> StatusTopicState:
    state = StatusTopicState()
    for offset, (key, status) in enumerate(entries):
        state.add(LogRecord("status", 0, offset, 0, key.encode(), status.encode() if status else None))
    return state


def test_the_last_status_counts() -> None:
    state = fold((C, Status(RUNNING, "w", 1)), (C, Status(FAILED, "w", 1, "why")))
    assert state.get(C) == Status(FAILED, "w", 1, "why")


def test_a_deleted_connector_has_no_tasks_either() -> None:
    state = fold((C, Status(RUNNING, "w", 1)), (C0, Status(RUNNING, "w", 1)), (C, None))
    assert state.connectors() == {}


def test_a_deleted_connector_still_has_its_topics() -> None:
    assert fold((TopicKey("c", "t"), TOPIC), (C, None)).connector("c").topics == {"t": TOPIC}


def test_a_deleted_task() -> None:
    assert fold((C0, Status(RUNNING, "w", 1)), (C0, None)).connector("c").tasks == {}


def test_topics_can_be_reset() -> None:
    key = TopicKey("c", "t")
    assert fold((key, TOPIC), (key, None)).connectors() == {}


@pytest.mark.parametrize("generation", [3, 4])
def test_a_late_release_does_not_hide_a_running_task(generation: int) -> None:
    state = fold((C0, Status(RUNNING, "new", generation)), (C0, Status(UNASSIGNED, "old", 3)))
    assert state.get(C0) == Status(RUNNING, "new", generation)


def test_a_release_of_a_newer_generation_counts() -> None:
    state = fold((C0, Status(RUNNING, "w", 3)), (C0, Status(UNASSIGNED, "w", 4)))
    assert state.get(C0) == Status(UNASSIGNED, "w", 4)


@pytest.mark.parametrize("record", [(b"other", b"{}"), (b"status-connector-c", b"no JSON"), (None, b"{}")])
def test_garbage_is_skipped_with_a_warning(
    record: tuple[bytes | None, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    state = fold((C, Status(RUNNING, "w", 1)))
    with caplog.at_level(logging.WARNING):
        state.add(LogRecord("status", 2, 7, 0, *record))
    assert "status-2@7" in caplog.text
    assert state.get(C) == Status(RUNNING, "w", 1)


class TestRuns:
    def test_the_last_record_of_a_connector_counts(self, caplog: pytest.LogCaptureFixture) -> None:
        state = _runs(ConnectorRuns(kind="source").encode(), RUNS.encode())
        assert state.runs("c") == RUNS
        assert state.all_runs() == {"c": RUNS}
        assert not caplog.records

    def test_they_are_no_status(self) -> None:
        assert _runs(RUNS.encode()).connectors() == {}

    def test_a_deleted_record_is_gone(self) -> None:
        assert _runs(RUNS.encode(), None).all_runs() == {}

    def test_garbage_is_skipped_with_one_warning(self, caplog: pytest.LogCaptureFixture) -> None:
        state = _runs(b"no JSON")
        assert [state.runs("c"), state.runs("c")] == [None, None]
        assert [text for text in caplog.messages if "status-0@0" in text] == [caplog.messages[0]]


def _runs(*values: bytes | None) -> StatusTopicState:
    state = StatusTopicState()
    for offset, value in enumerate(values):
        state.add(LogRecord("status", 0, offset, 0, RunsKey("c").encode(), value))
    return state
