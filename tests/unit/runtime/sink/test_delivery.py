"""What a `SinkTask` asks for by its context, and which records it is put then."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.connector.task import SinkTask, SinkTaskContext
from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.connect.record import SinkRecord, TopicPartition
from airflow_kconnect.runtime.retries import Retries
from airflow_kconnect.runtime.sink import delivery
from airflow_kconnect.runtime.sink.delivery import Delivery, Ended, Terms

PLACE, OTHER = TopicPartition("t", 3), TopicPartition("t", 4)
SPLIT = SinkSplit("t", 3, 10, 20)
Call = Callable[[SinkTaskContext], Any]


class AskingTask(SinkTask):
    """Does the next thing of a list in each `put`; writes down what it is put, and what it commits."""

    def __init__(self, *puts: Call, commits: Sequence[Call] = ()) -> None:
        self._puts, self._commits = deque(puts), deque(commits)
        self.calls: list[Any] = []

    def start(self, props: Mapping[str, str]) -> None:
        return

    def put(self, records: Sequence[SinkRecord]) -> None:
        self.calls.append([record.kafka_offset for record in records])
        if self._puts:
            self._puts.popleft()(self.context)

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        self.calls.append(f"commit {offsets[PLACE]}")
        answer = self._commits.popleft()(self.context) if self._commits else None
        return {PLACE: answer} if isinstance(answer, int) else offsets

    def stop(self) -> None:
        return


def delivery_of(task: SinkTask, opened: Call = lambda context: None, **terms: Any) -> Delivery:
    """Of the split to the task. :param opened: what the task asks for when it is opened."""
    context = SinkTaskContext({}, (PLACE,))
    task.initialize(context)
    opened(context)
    return Delivery(task, context, SPLIT, Terms(**{"patience_s": 0.3, **terms}), _records)


def _records(batch: pa.RecordBatch) -> list[SinkRecord]:
    return [SinkRecord("t", 3, offset, None, None) for offset in batch.column("kafka_offset").to_pylist()]


def rows(*offsets: int) -> pa.RecordBatch:
    return pa.record_batch({"kafka_offset": pa.array(offsets, pa.int64())})


def nothing(context: SinkTaskContext) -> None:
    """Asks for nothing."""


def pause(context: SinkTaskContext) -> None:
    context.pause(PLACE)


def resume(context: SinkTaskContext) -> None:
    context.resume(PLACE)


def back_to(offset: int) -> Call:
    return lambda context: context.offset({PLACE: offset})


def unavailable(timeout_ms: int | None = None) -> Call:
    def fail(context: SinkTaskContext) -> None:
        if timeout_ms is not None:
            context.timeout(timeout_ms)
        raise RetriableError("target is unavailable")

    return fail


def wait(timeout_ms: int, then: Call = nothing) -> Call:
    def ask(context: SinkTaskContext) -> Any:
        context.timeout(timeout_ms)
        return then(context)

    return ask


class TestPause:
    def test_nothing_is_put_until_the_task_continues(self) -> None:
        task = AskingTask(wait(1, pause), wait(1), resume)
        made = delivery_of(task)
        made.deliver(rows(10, 11))
        made.deliver(rows(12))
        assert task.calls == [[10, 11], [], [], [12]]

    def test_a_task_that_has_paused_is_called_each_flush_interval(self) -> None:
        task = AskingTask(pause, resume)
        made = delivery_of(task, flush_ms=50)
        made.deliver(rows(10))
        made.deliver(rows(11))
        assert task.calls == [[10], [], "commit 11", [11]]

    def test_another_thread_may_end_it(self) -> None:
        def later(context: SinkTaskContext) -> None:
            context.pause(PLACE)
            threading.Timer(0.05, context.resume, (PLACE,)).start()

        task = AskingTask(later)
        made = delivery_of(task, patience_s=60)
        made.deliver(rows(10))
        made.deliver(rows(11))
        assert task.calls == [[10], [11]]

    def test_a_task_that_pauses_for_too_long_ends_its_split_where_it_is(self) -> None:
        task = AskingTask(pause)
        made = delivery_of(task)
        made.deliver(rows(10, 11))
        with pytest.raises(Ended):
            made.deliver(rows(12))
        assert (made.finish(20), made.ended, made.again) == (12, True, False)

    def test_the_end_of_the_runs_time_ends_it_too(self) -> None:
        made = delivery_of(AskingTask(), pause, patience_s=60, deadline_epoch_s=time.time() + 0.05)
        with pytest.raises(Ended):
            made.deliver(rows(10))
        assert made.finish(20) == 10

    def test_a_pause_after_the_last_record_holds_nothing_back(self) -> None:
        task = AskingTask(pause)
        made = delivery_of(task, patience_s=60)
        made.deliver(rows(10, 19))
        assert (made.finish(20), made.ended) == (20, False)

    @pytest.mark.parametrize(
        ("call", "what"),
        [
            (lambda context: context.pause(PLACE, OTHER), "pause"),
            (lambda context: context.resume(OTHER), "resume"),
            (lambda context: context.offset({OTHER: 1}), "rewind"),
        ],
        ids=["pause", "resume", "offset"],
    )
    def test_other_partitions_are_an_error(self, call: Call, what: str) -> None:
        with pytest.raises(DataError, match=f"can only {what} partitions that it has, not t-4: it has t-3"):
            call(SinkTaskContext({}, (PLACE,)))


class TestOffset:
    def test_records_are_put_again_from_there(self) -> None:
        task = AskingTask(nothing, back_to(11))
        made = delivery_of(task)
        for batch in (rows(10, 11), rows(12, 13), rows(14)):
            made.deliver(batch)
        assert task.calls == [[10, 11], [12, 13], [11], [12, 13], [14]]

    def test_what_is_before_it_is_left_out(self) -> None:
        task = AskingTask()
        made = delivery_of(task, back_to(13))
        for batch in (rows(10, 11), rows(12, 13, 14), rows(15)):
            made.deliver(batch)
        assert (task.calls, made.skipped) == ([[13, 14], [15]], 3)

    def test_one_after_the_end_leaves_out_the_rest(self) -> None:
        task = AskingTask(back_to(99))
        made = delivery_of(task)
        made.deliver(rows(10, 11))
        made.deliver(rows(12, 19))
        assert (made.finish(20), task.calls, made.skipped) == (20, [[10, 11], "commit 20"], 2)

    def test_one_that_compaction_has_removed_is_the_next_one_that_is_there(self) -> None:
        task = AskingTask(nothing, back_to(12))
        made = delivery_of(task)
        for batch in (rows(10, 11), rows(14, 15), rows(16)):
            made.deliver(batch)
        assert task.calls == [[10, 11], [14, 15], [14, 15], [16]]

    def test_one_asked_for_by_the_last_commit_is_served_before_the_end(self) -> None:
        task = AskingTask(commits=[back_to(18)])
        made = delivery_of(task)
        made.deliver(rows(17, 18, 19))
        assert made.finish(20) == 20
        assert task.calls == [[17, 18, 19], "commit 20", [18, 19], "commit 20"]

    def test_a_commit_after_it_is_of_what_was_put_since(self) -> None:
        def back_and_pause(context: SinkTaskContext) -> None:
            context.pause(PLACE)
            context.offset({PLACE: 11})

        task = AskingTask(back_and_pause, resume)
        made = delivery_of(task, flush_ms=50)
        made.deliver(rows(10, 11))
        assert task.calls == [[10, 11], [], "commit 11", [11]]

    def test_one_before_the_split_is_an_error(self) -> None:
        made = delivery_of(AskingTask(), back_to(9))
        with pytest.raises(DataError, match=r"AskingTask asks for offset 9 of t-3, but its split begins at 10"):
            made.deliver(rows(10))

    def test_one_that_is_no_longer_here_ends_the_split_to_begin_there_again(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(delivery, "_KEPT_BYTES", 8)
        task = AskingTask(nothing, back_to(11))
        made = delivery_of(task)
        made.deliver(rows(10, 11))
        made.deliver(rows(12))
        with pytest.raises(Ended):
            made.deliver(rows(13))
        assert (made.finish(20), made.again) == (11, True)

    def test_what_a_commit_has_made_safe_is_not_kept(self) -> None:
        task = AskingTask(lambda context: context.request_commit(), back_to(10))
        made = delivery_of(task)
        made.deliver(rows(10, 11))
        made.deliver(rows(12))
        with pytest.raises(Ended):
            made.deliver(rows(13))
        assert (made.finish(20), made.again) == (10, False)

    def test_a_task_that_always_goes_back_ends(self) -> None:
        task = AskingTask(*[back_to(10)] * 100_000)
        made = delivery_of(task)
        with pytest.raises(Ended):
            for offset in range(10, 20):
                made.deliver(rows(offset))
        assert made.finish(20) == 10


class TestCommits:
    def test_a_task_may_ask_for_one(self) -> None:
        task = AskingTask(lambda context: context.request_commit())
        made = delivery_of(task)
        made.deliver(rows(10, 11))
        made.deliver(rows(12))
        assert task.calls == [[10, 11], "commit 12", [12]]

    def test_an_offset_that_was_not_put_is_not_safe(self) -> None:
        made = delivery_of(AskingTask(pause, commits=[lambda context: 20]))
        made.deliver(rows(10))
        with pytest.raises(Ended):
            made.deliver(rows(11))
        assert made.finish(20) == 11

    def test_a_task_may_ask_for_time_until_everything_is_safe(self) -> None:
        task = AskingTask(commits=[wait(1, lambda context: 12), wait(1, lambda context: 15)])
        made = delivery_of(task)
        made.deliver(rows(10, 19))
        assert made.finish(20) == 20
        assert task.calls == [[10, 19], "commit 20", [], "commit 20", [], "commit 20"]

    def test_a_task_that_asks_for_no_time_is_not_called_again(self) -> None:
        task = AskingTask(commits=[lambda context: 12])
        made = delivery_of(task)
        made.deliver(rows(10, 19))
        assert (made.finish(20), task.calls) == (12, [[10, 19], "commit 20"])

    def test_a_task_that_always_asks_for_time_gets_some(self) -> None:
        made = delivery_of(AskingTask(commits=[wait(20, lambda context: 12)] * 1000))
        made.deliver(rows(10, 19))
        assert made.finish(20) == 12


class TestRetriableErrors:
    def test_the_same_records_are_put_again_after_the_timeout_that_the_task_asks_for(self) -> None:
        task = AskingTask(unavailable(1), unavailable(1))
        made = delivery_of(task)
        made.deliver(rows(10, 11))
        made.deliver(rows(12))
        assert task.calls == [[10, 11], [10, 11], [10, 11], [12]]

    @pytest.mark.parametrize("terms", [{}, {"retries": Retries(60_000, 1)}], ids=["its timeout", "the configuration"])
    def test_of_a_task_that_has_paused_are_tried_again_too(self, terms: dict[str, Any]) -> None:
        task = AskingTask(wait(1, pause), unavailable(None if terms else 1), resume)
        made = delivery_of(task, **terms)
        made.deliver(rows(10))
        made.deliver(rows(11))
        assert task.calls == [[10], [], [], [11]]

    def test_end_the_run_at_once_if_it_asks_for_none(self) -> None:
        task = AskingTask(wait(1), unavailable())
        made = delivery_of(task)
        made.deliver(rows(10))
        with pytest.raises(RetriableError, match="target is unavailable"):
            made.deliver(rows(11))
        assert task.calls == [[10], [11]]

    def test_end_the_run_when_they_last_too_long(self) -> None:
        made = delivery_of(AskingTask(*[unavailable(20)] * 1000))
        with pytest.raises(RetriableError, match="target is unavailable"):
            made.deliver(rows(10))

    def test_end_the_run_at_once_if_it_asks_for_more_time_than_there_is(self) -> None:
        task = AskingTask(unavailable(60_000))
        with pytest.raises(RetriableError):
            delivery_of(task).deliver(rows(10))
        assert task.calls == [[10]]

    def test_end_the_run_with_its_time(self) -> None:
        made = delivery_of(AskingTask(*[unavailable(10)] * 1000), patience_s=60, deadline_epoch_s=time.time() + 0.05)
        with pytest.raises(RetriableError):
            made.deliver(rows(10))

    def test_are_retried_as_the_configuration_says(self) -> None:
        task = AskingTask(unavailable(), unavailable())
        delivery_of(task, retries=Retries(60_000, 1)).deliver(rows(10))
        assert task.calls == [[10], [10], [10]]

    def test_are_retried_for_as_long_as_the_configuration_says(self) -> None:
        task = AskingTask(*[unavailable()] * 1000)
        with pytest.raises(RetriableError):
            delivery_of(task, retries=Retries(1_000, 10)).deliver(rows(10))
        assert len(task.calls) > 2

    def test_a_record_that_was_taken_back_is_put_before_those_that_follow(self) -> None:
        def again(context: SinkTaskContext) -> None:
            context.offset({PLACE: 10})
            unavailable(1)(context)

        task = AskingTask(again)
        made = delivery_of(task)
        made.deliver(rows(10, 11))
        made.deliver(rows(12))
        assert task.calls == [[10, 11], [10, 11], [10, 11], [12]]
