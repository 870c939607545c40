"""When a hosted run is over."""

from __future__ import annotations

from airflow_kconnect.hosted.bounds import Limits, Watch
from airflow_kconnect.hosted.worker.metrics import Counts


def watch(**limits: float) -> Watch:
    return Watch(Limits(**{"idle_s": 5.0, **limits}), 100.0)  # type: ignore[arg-type]


class TestIdle:
    def test_silence_ends_a_run_after_the_idle_time(self) -> None:
        one = watch()
        assert one.over(104.9, Counts()) is None
        assert one.over(105.0, Counts()) == "idle"

    def test_records_begin_it_again(self) -> None:
        one = watch()
        assert one.over(104.0, Counts(read=1)) is None
        assert one.over(108.9, Counts(read=1)) is None
        assert one.over(109.0, Counts(read=1)) == "idle"

    def test_records_that_are_not_acknowledged_are_not_silence(self) -> None:
        one = watch()
        assert one.over(104.0, Counts(read=9, active=9)) is None
        assert one.over(120.0, Counts(read=9, active=9)) is None

    def test_a_busy_task_is_not_silence(self) -> None:
        one = watch()
        assert one.over(120.0, Counts(), busy=True) is None
        assert one.over(125.0, Counts()) == "idle"

    def test_a_thread_at_work_gets_ten_times_as_long(self) -> None:
        one = watch(first_s=300.0)
        assert one.over(101.0, Counts(read=1), at_work=True) is None
        assert one.over(150.9, Counts(read=1), at_work=True) is None
        assert one.over(151.0, Counts(read=1), at_work=True) == "idle"

    def test_a_source_may_work_longer_on_its_first_record(self) -> None:
        one = watch(first_s=300.0)
        assert one.over(399.9, Counts(), at_work=True) is None
        assert one.over(400.0, Counts(), at_work=True) == "idle"

    def test_a_source_that_does_not_work_has_the_idle_time_for_its_first_record(self) -> None:
        assert watch(first_s=300.0).over(105.0, Counts()) == "idle"

    def test_a_sink_may_write_as_long_as_its_consumer_may_not_ask_for_records(self) -> None:
        one = watch(put_s=600.0)
        assert one.over(101.0, Counts(read=5), at_work=True) is None
        assert one.over(700.9, Counts(read=5), at_work=True) is None
        assert one.over(701.0, Counts(read=5), at_work=True) == "idle"

    def test_work_begins_the_idle_time_again(self) -> None:
        one = watch()
        assert one.over(104.0, Counts(), at_work=True) is None
        assert one.over(108.9, Counts()) is None
        assert one.over(109.0, Counts()) == "idle"


class TestLimits:
    def test_as_many_records_as_allowed(self) -> None:
        one = watch(max_records=10)
        assert one.over(101.0, Counts(written=9)) is None
        assert one.over(102.0, Counts(written=10)) == "records"

    def test_the_time_counts_also_while_records_come(self) -> None:
        assert watch(max_duration_s=3.0).over(103.0, Counts(read=7, active=3), busy=True) == "duration"


def test_what_is_known_to_have_caught_up_is_not_waited_for() -> None:
    assert watch().over(100.1, Counts(read=1), caught_up=True) == "caught up"
