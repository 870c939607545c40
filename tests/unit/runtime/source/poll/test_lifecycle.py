"""When a task is started, called back and stopped."""

from __future__ import annotations

import time

import pytest

from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.runtime.source.acknowledgements import AckWriter
from airflow_kconnect.runtime.source.poll import _HostedTask
from tests.support.connectors.scripted_task import (
    PARTITION,
    MakeSettings,
    NoCallbacks,
    NoStart,
    NoStop,
    Scripted,
    ScriptedTask,
    records,
)


def wait_for(calls: list[str], last: str) -> list[str]:
    deadline = time.monotonic() + 30
    while calls[-1:] != [last] and time.monotonic() < deadline:
        time.sleep(0.005)
    return calls


class TestLifecycle:
    def test_callbacks_come_in_the_order_of_the_contract(
        self, scripted: Scripted, settings: MakeSettings, acks: AckWriter
    ) -> None:
        calls = scripted(records(1, 2), None)
        list(_HostedTask(settings(), 0).batches())
        acks.committed(2)
        acks.finished()
        assert wait_for(calls, "stop") == [
            "initialize",
            "start",
            "poll",
            "poll",
            "commit_record 1",
            "commit_record 2",
            "commit",
            "stop",
        ]

    @pytest.mark.usefixtures("at_once")
    def test_what_is_committed_while_polling_is_called_back_between_polls(
        self, scripted: Scripted, settings: MakeSettings, acks: AckWriter
    ) -> None:
        calls = scripted(records(1), records(2), [])
        batches = _HostedTask(settings(), 0).batches()
        next(batches)
        acks.committed(1)
        assert (next(batches), len(next(batches))) == ([], 1)
        assert calls == ["initialize", "start", "poll", "poll", "commit_record 1", "commit"]
        batches.close()

    @pytest.mark.usefixtures("at_once")
    def test_no_record_is_called_back_twice(self, scripted: Scripted, settings: MakeSettings, acks: AckWriter) -> None:
        calls = scripted(records(1), records(2), None)
        batches = _HostedTask(settings(), 0).batches()
        next(batches)
        acks.committed(1)
        list(batches)
        acks.committed(2)
        acks.finished()
        wait_for(calls, "stop")
        assert [call for call in calls if call.startswith("commit_record")] == ["commit_record 1", "commit_record 2"]

    def test_without_a_commit_record_no_records_are_kept_for_it(
        self, scripted: Scripted, settings: MakeSettings, acks: AckWriter
    ) -> None:
        calls = scripted(records(1, 2), None)
        task = _HostedTask(settings(NoCallbacks), 0)
        list(task.batches())
        assert not task._uncommitted
        acks.committed(2)
        acks.finished()
        assert wait_for(calls, "stop")[-2:] == ["commit", "stop"]

    def test_records_that_were_never_committed_are_not_called_back(
        self, scripted: Scripted, settings: MakeSettings, acks: AckWriter
    ) -> None:
        calls = scripted(records(1), None)
        list(_HostedTask(settings(), 0).batches())
        acks.finished()
        assert wait_for(calls, "stop") == ["initialize", "start", "poll", "poll", "stop"]

    def test_the_wait_for_the_final_commit_is_bounded(self, scripted: Scripted, settings: MakeSettings) -> None:
        calls = scripted(None)
        list(_HostedTask(settings(stop_timeout_s=0.05), 0).batches())
        assert wait_for(calls, "stop")[-1] == "stop"

    def test_the_writing_end_learns_that_the_task_is_stopped(self, scripted: Scripted, settings: MakeSettings) -> None:
        calls = scripted(None)
        list(_HostedTask(settings(), 0).batches())
        started = time.monotonic()
        AckWriter("plan", 0, patience_s=30).finished()
        assert (calls[-1], time.monotonic() - started < 25) == ("stop", True)

    @pytest.mark.parametrize("error", [DataError("bad"), ValueError("bad")], ids=["of ours", "any other"])
    def test_a_task_is_stopped_after_an_error(
        self, scripted: Scripted, settings: MakeSettings, error: Exception
    ) -> None:
        calls = scripted(error)
        with pytest.raises(type(error)):
            list(_HostedTask(settings(), 0).batches())
        assert calls == ["initialize", "start", "poll", "stop"]

    def test_a_task_that_cannot_start_is_stopped(self, scripted: Scripted, settings: MakeSettings) -> None:
        calls = scripted()
        with pytest.raises(RetriableError):
            list(_HostedTask(settings(NoStart), 0).batches())
        assert calls == ["initialize", "stop"]

    def test_an_error_of_stop_hides_none_that_came_before(self, scripted: Scripted, settings: MakeSettings) -> None:
        scripted(RetriableError("database is unavailable"))
        with pytest.raises(RetriableError, match="database is unavailable"):
            list(_HostedTask(settings(NoStop), 0).batches())

    def test_the_writing_end_does_not_wait_for_a_task_that_cannot_be_stopped(
        self, scripted: Scripted, settings: MakeSettings, acks: AckWriter
    ) -> None:
        scripted(None)
        list(_HostedTask(settings(NoStop, stop_timeout_s=0.0), 0).batches())
        started = time.monotonic()
        AckWriter("plan", 0, patience_s=30).finished()
        assert time.monotonic() - started < 25

    @pytest.mark.usefixtures("at_once")
    def test_a_task_is_stopped_when_the_batches_are_no_longer_wanted(
        self, scripted: Scripted, settings: MakeSettings
    ) -> None:
        calls = scripted(records(1), records(2))
        batches = _HostedTask(settings(), 0).batches()
        next(batches)
        batches.close()
        assert calls[-1] == "stop"

    def test_the_task_is_given_its_configuration_and_the_committed_offsets(
        self, settings: MakeSettings, scripted: Scripted
    ) -> None:
        scripted(None)
        task = _HostedTask(settings(configs=({"task": "0"}, {"task": "1"}), max_records=(None, None)), 1)
        list(task.batches())
        assert isinstance(task._task, ScriptedTask)
        assert (task._task.context.configs["task"], task._task.context.offset(PARTITION)) == ("1", {"n": 41})
