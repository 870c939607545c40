"""Transactions whose ends a source task defines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from airflow_kconnect.connect.connector.task import SourceTaskContext, TransactionContext
from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.runs.end import Left
from airflow_kconnect.runtime.retries import Retries
from airflow_kconnect.runtime.source.poll import _HostedTask
from airflow_kconnect.runtime.source.transactions import AbortedRecord, Transactions, as_one
from tests.support.connectors.scripted_task import MakeSettings, Scripted, records


def ended(transactions: Transactions, polled: Sequence[SourceRecord]) -> list[list[int]]:
    return [
        [record.source_offset["n"] for record in own if record.source_offset] for own, _ in transactions.ended(polled)
    ]


@pytest.fixture
def context() -> TransactionContext:
    return TransactionContext()


class TestEnds:
    def test_nothing_ends_by_itself(self, context: TransactionContext) -> None:
        transactions = Transactions(context)
        assert ended(transactions, records(1, 2)) == []
        assert transactions.is_open

    def test_a_batch_ends_one_with_what_came_before(self, context: TransactionContext) -> None:
        transactions = Transactions(context)
        ended(transactions, records(1))
        context.commit_transaction()
        assert ended(transactions, records(2, 3)) == [[1, 2, 3]]
        assert ended(transactions, records(4)) == []

    def test_a_record_ends_one_within_a_batch(self, context: TransactionContext) -> None:
        transactions, polled = Transactions(context), records(1, 2, 3)
        context.commit_transaction(polled[1])
        assert ended(transactions, polled) == [[1, 2]]
        assert transactions.is_open

    def test_one_that_is_aborted_leaves_only_offsets(self, context: TransactionContext) -> None:
        transactions = Transactions(context)
        context.abort_transaction()
        [(own, as_written)] = list(transactions.ended(records(1, 2)))
        assert [record.value for record in own] == ["value 1", "value 2"]
        assert all(isinstance(record, AbortedRecord) for record in as_written)
        assert [record.source_offset for record in as_written] == [None, {'{"id": 0}': {"n": 2}}]

    def test_a_batch_without_records_ends_none(self, context: TransactionContext) -> None:
        context.commit_transaction()
        assert ended(Transactions(context), []) == []

    def test_two_ends_in_one_place_are_an_error(self, context: TransactionContext) -> None:
        context.commit_transaction()
        context.abort_transaction()
        with pytest.raises(DataError, match="to commit and to abort the transaction at the same batch"):
            ended(Transactions(context), records(1))


def _record(partition: dict[str, int] | None, offset: int | None) -> SourceRecord:
    return SourceRecord(partition, None if offset is None else {"n": offset}, "t", "v")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([({"a": 1}, 1), ({"a": 1}, 2)], {'{"a": 1}': {"n": 2}}),
        ([({"a": 1}, 1), ({"a": 1}, None)], {'{"a": 1}': {"n": 1}}),
        ([({"a": 1}, 1), ({"a": 2}, 7)], {'{"a": 1}': {"n": 1}, '{"a": 2}': {"n": 7}}),
        ([({"a": 1, "b": 1}, 1), ({"b": 1, "a": 1}, 2)], {'{"b": 1, "a": 1}': {"n": 2}}),
        ([({"a": 1}, None), (None, None)], {}),
    ],
    ids=["the last one", "the last offset", "of each source partition", "in one spelling", "none"],
)
def test_offsets_are_at_the_end_of_a_transaction(
    given: list[tuple[dict[str, int] | None, int | None]], expected: dict[str, dict[str, int]]
) -> None:
    written = as_one([_record(*place) for place in given])
    assert [record.source_partition for record in written] == [partition for partition, _ in given]
    assert [record.source_offset for record in written] == [None, expected]


class TestPolling:
    def test_what_has_no_end_is_for_the_next_run(self, scripted: Scripted, settings: MakeSettings) -> None:
        def commits(context: SourceTaskContext) -> list[SourceRecord]:
            assert context.transaction_context is not None
            context.transaction_context.commit_transaction()
            return records(1, 2)

        scripted(commits, records(3), None)
        task = _HostedTask(settings(transactions=True, at_offsets=True), 0)
        assert [len(batch) for batch in task.batches() if batch] == [2]
        assert task.bound is Left.HELD_BACK

    def test_a_bound_does_not_cut_a_transaction(self, scripted: Scripted, settings: MakeSettings) -> None:
        def commits(context: SourceTaskContext) -> list[SourceRecord]:
            assert context.transaction_context is not None
            context.transaction_context.commit_transaction()
            return records(3)

        scripted(records(1, 2), commits, records(4))
        task = _HostedTask(settings(transactions=True, at_offsets=True, max_records=(1,)), 0)
        assert [len(batch) for batch in task.batches() if batch] == [3]
        assert task.bound is Left.MAX_RECORDS

    def test_a_task_that_has_caught_up_may_end_what_is_open(self, scripted: Scripted, settings: MakeSettings) -> None:
        def ends(context: SourceTaskContext) -> None:
            assert context.transaction_context is not None
            context.transaction_context.commit_transaction()

        scripted(records(1, 2), ends)
        task = _HostedTask(settings(transactions=True, at_offsets=True), 0)
        assert [len(batch) for batch in task.batches() if batch] == [2]
        assert task.bound is None

    def test_an_end_asked_for_by_a_poll_that_failed_is_that_of_the_next_one(
        self, scripted: Scripted, settings: MakeSettings
    ) -> None:
        def fails(context: SourceTaskContext) -> None:
            assert context.transaction_context is not None
            context.transaction_context.commit_transaction()
            raise RetriableError("source is unavailable")

        scripted(records(1), fails, records(2))
        task = _HostedTask(settings(transactions=True, at_offsets=True, retries=Retries(60_000, 1)), 0)
        assert [len(batch) for batch in task.batches() if batch] == [2]

    def test_a_preview_does_not_wait_for_the_end_of_a_transaction(
        self, scripted: Scripted, settings: MakeSettings
    ) -> None:
        calls = scripted(*([records(1)] * 100_000))
        list(_HostedTask(settings(transactions=True, at_offsets=False, max_duration_s=0.0), 0).batches())
        assert calls.count("poll") == 1

    def test_without_the_key_there_is_no_context(self, scripted: Scripted, settings: MakeSettings) -> None:
        found: list[TransactionContext | None] = []
        calls: list[Callable[[SourceTaskContext], None]] = [lambda context: found.append(context.transaction_context)]
        scripted(*calls)
        list(_HostedTask(settings(), 0).batches())
        assert found == [None]


def test_offsets_of_several_source_partitions() -> None:
    context = SourceTaskContext({}, {'{"id":0}': {"n": 4}})
    assert context.offsets([{"id": 1}, {"id": 0}]) == [None, {"n": 4}]
