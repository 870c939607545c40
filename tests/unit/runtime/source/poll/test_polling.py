"""How often a task is polled, and how its records travel."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.runs.end import Left
from airflow_kconnect.runtime.source.kinds import share_of
from airflow_kconnect.runtime.source.poll import _HostedTask
from tests.support.connectors.scripted_task import MakeSettings, Scripted, numbers, records


class TestPolling:
    def test_polling_ends_when_the_task_has_caught_up(self, scripted: Scripted, settings: MakeSettings) -> None:
        scripted(records(1), None, records(2))
        assert numbers(_HostedTask(settings(), 0).batches()) == [[1]]

    def test_nothing_yet_is_not_the_end(self, scripted: Scripted, settings: MakeSettings) -> None:
        scripted([], [], records(1), None)
        assert numbers(_HostedTask(settings(), 0).batches()) == [[1]]

    @pytest.mark.usefixtures("at_once")
    def test_in_time_what_waits_is_handed_on_and_pushed_through_spark(
        self, scripted: Scripted, settings: MakeSettings
    ) -> None:
        scripted(records(1), [], records(2), None)
        assert numbers(_HostedTask(settings(), 0).batches()) == [[1], [], [2], []]

    def test_an_empty_poll_alone_hands_nothing_on(self, scripted: Scripted, settings: MakeSettings) -> None:
        """Spark would hold it back, and to push it each time would cost more than it is worth."""
        scripted(records(1), [], records(2), [], None)
        assert numbers(_HostedTask(settings(), 0).batches()) == [[1, 2]]

    def test_small_polls_travel_together(self, scripted: Scripted, settings: MakeSettings) -> None:
        scripted(*(records(n) for n in range(50)), None)
        assert [len(batch) for batch in _HostedTask(settings(), 0).batches()] == [50]

    def test_many_records_do_not_wait_for_the_end(self, scripted: Scripted, settings: MakeSettings) -> None:
        scripted(records(*range(5000)), records(5000), None)
        assert [len(batch) for batch in _HostedTask(settings(), 0).batches()] == [5000, 1]

    @pytest.mark.parametrize(
        ("max_records", "expected"),
        [(1, [[1]]), (2, [[1, 2]]), (3, [[1, 2, 3]]), (4, [[1, 2, 3, 4]]), (9, [[1, 2, 3, 4]])],
        ids=str,
    )
    def test_at_most_that_many_records(
        self, scripted: Scripted, settings: MakeSettings, max_records: int, expected: list[list[int]]
    ) -> None:
        scripted(records(1, 2), records(3, 4), None)
        assert numbers(_HostedTask(settings(max_records=(max_records,)), 0).batches()) == expected

    def test_a_task_at_its_bound_is_not_polled_again(self, scripted: Scripted, settings: MakeSettings) -> None:
        calls = scripted(records(1, 2), records(3))
        list(_HostedTask(settings(max_records=(2,)), 0).batches())
        assert calls.count("poll") == 1

    def test_after_its_time_a_task_is_not_polled_again(self, scripted: Scripted, settings: MakeSettings) -> None:
        scripted(records(1), records(2))
        assert numbers(_HostedTask(settings(max_duration_s=0), 0).batches()) == [[1]]

    def test_its_time_begins_with_its_first_poll(
        self, scripted: Scripted, settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        scripted(records(1), records(2), None)
        task = _HostedTask(settings(max_duration_s=60), 0)
        start = time.monotonic() + 3600
        monkeypatch.setattr(time, "monotonic", lambda: start)
        assert numbers(task.batches()) == [[1, 2]]

    @pytest.mark.parametrize(
        ("bounds", "bound"),
        [
            ({}, None),
            ({"max_records": (9,), "max_duration_s": 60}, None),
            ({"max_records": (1,)}, Left.MAX_RECORDS),
            ({"max_duration_s": 0}, Left.MAX_DURATION),
        ],
    )
    def test_a_task_knows_which_bound_has_ended_it(
        self, scripted: Scripted, settings: MakeSettings, bounds: dict[str, Any], bound: Left | None
    ) -> None:
        scripted(records(1, 2), None)
        task = _HostedTask(settings(**bounds), 0)
        list(task.batches())
        assert task.bound is bound


@pytest.mark.parametrize(
    ("max_records", "count", "shares"),
    [(None, 2, [None, None]), (101, 2, [51, 50]), (3, 4, [1, 1, 1, 1]), (0, 2, [1, 1])],
)
def test_each_task_may_deliver_at_least_one_record(
    max_records: int | None, count: int, shares: list[int | None]
) -> None:
    assert [share_of(max_records, count, n) for n in range(count)] == shares


class TestCommitsAtOffsets:
    """A bound ends a task at the first record with an offset after it."""

    @staticmethod
    def polled(*numbered: int) -> list[SourceRecord]:
        """Records 1, 2, ...; negative ones have no offset."""
        return [
            replace(record, source_offset=None) if n < 0 else record for n in numbered for record in records(abs(n))
        ]

    @staticmethod
    def numbers(task: _HostedTask) -> list[list[int]]:
        return [[int(record.value.removeprefix("value ")) for record in batch] for batch in task.batches()]

    @pytest.mark.parametrize(
        ("max_records", "expected"),
        [(1, [[1, 2]]), (2, [[1, 2]]), (3, [[1, 2, 3, 4, 5]]), (5, [[1, 2, 3, 4, 5]]), (6, [[1, 2, 3, 4, 5, 6]])],
        ids=str,
    )
    def test_of_records(
        self, max_records: int, expected: list[list[int]], scripted: Scripted, settings: MakeSettings
    ) -> None:
        scripted(self.polled(-1, 2, -3), self.polled(-4, 5, 6), None)
        task = _HostedTask(settings(max_records=(max_records,), at_offsets=True), 0)
        assert self.numbers(task) == expected

    def test_of_time(self, scripted: Scripted, settings: MakeSettings) -> None:
        scripted(self.polled(-1), self.polled(-2), self.polled(3), self.polled(4))
        task = _HostedTask(settings(max_duration_s=0, at_offsets=True), 0)
        assert (self.numbers(task), task.bound) == ([[1, 2, 3]], Left.MAX_DURATION)


class TestOnlyRead:
    """Records that nobody will commit."""

    def test_the_task_is_stopped_and_hears_of_no_commit(self, scripted: Scripted, settings: MakeSettings) -> None:
        calls = scripted(records(1), None)
        list(_HostedTask(settings(plan_id=None), 0).batches())
        assert calls == ["initialize", "start", "poll", "poll", "stop"]

    def test_no_file_is_left(self, scripted: Scripted, settings: MakeSettings, tmp_path: Path) -> None:
        scripted(records(1), None)
        list(_HostedTask(settings(plan_id=None), 0).batches())
        assert list(tmp_path.iterdir()) == []
