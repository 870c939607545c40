"""How often a task is polled, and how its records travel."""

from __future__ import annotations

import time

import pytest

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
        [(0, []), (1, [[1]]), (2, [[1, 2]]), (3, [[1, 2, 3]]), (4, [[1, 2, 3, 4]]), (9, [[1, 2, 3, 4]])],
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

    def test_after_the_deadline_a_task_is_polled_once(self, scripted: Scripted, settings: MakeSettings) -> None:
        """So that each run gets on: a task may have had to wait for a core, and its clock may be ahead."""
        scripted(records(1), records(2))
        batches = _HostedTask(settings(deadline_epoch_s=time.time() - 1), 0).batches()
        assert numbers(batches) == [[1]]
