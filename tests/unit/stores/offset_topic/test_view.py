"""The offset topic as a run sees it, fed with hand-made records."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.connector.source import Offset, Split
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.kafka.log import LogRecord
from airflow_kconnect.stores.offset_topic.records import (
    Marker,
    PlanRecord,
    claim_key,
    facts_key,
    marker_key,
    offset_key,
    plan_key,
    sink_key,
)
from airflow_kconnect.stores.offset_topic.view import OffsetView

A = {"filename": "/a"}
A_KEY, A_ID = offset_key("fs", A), '{"filename":"/a"}'
AB_KEY, BA_KEY = b'["fs",{"a":1,"b":2}]', b'["fs",{"b":2,"a":1}]'
AB_ID = '{"a":1,"b":2}'
PLAN = PlanRecord("p", "r", 1, (Split(A, 0, 10),))
MARKER = Marker("p", 5, False, 2)


def record(
    key: bytes | None, value: bytes | None, *, at: int = 0, partition: int = 0, ms: int | None = None
) -> LogRecord:
    return LogRecord("connect-offsets", partition, at, at if ms is None else ms, key, value)


def view_of(records: Iterable[LogRecord], connector: str = "fs") -> OffsetView:
    view = OffsetView(connector)
    for each in records:
        view.add(each)
    return view


def values(key: bytes, *written: bytes | None) -> list[LogRecord]:
    return [record(key, value, at=at) for at, value in enumerate(written)]


class TestOffsets:
    @pytest.mark.parametrize(
        ("records", "expected"),
        [
            pytest.param([], {}, id="empty topic"),
            pytest.param(values(A_KEY, b'{"position":1}'), {A_ID: {"position": 1}}, id="one record"),
            pytest.param(
                values(A_KEY, b'{"position":1}', b'{"position":2}'), {A_ID: {"position": 2}}, id="the last one wins"
            ),
            pytest.param(values(A_KEY, b'{"position":1}', None), {}, id="a tombstone deletes"),
            pytest.param(values(A_KEY, b'{"position":1}', b"null"), {}, id="JSON null deletes"),
            pytest.param(values(A_KEY, None), {}, id="a tombstone of nothing"),
            pytest.param(
                values(A_KEY, b'{"position":1}', None, b'{"position":3}'),
                {A_ID: {"position": 3}},
                id="an offset after a tombstone",
            ),
            pytest.param(values(A_KEY, b"{}"), {A_ID: {}}, id="an empty offset"),
            pytest.param(
                values(A_KEY, b'{"a":null,"b":true,"c":1.5,"d":"x"}'),
                {A_ID: {"a": None, "b": True, "c": 1.5, "d": "x"}},
                id="any primitive",
            ),
            pytest.param(
                [
                    record(A_KEY, b'{"position":1}'),
                    record(offset_key("fs", {"filename": "/b"}), b'{"position":2}', at=1),
                ],
                {A_ID: {"position": 1}, '{"filename":"/b"}': {"position": 2}},
                id="each source partition has its own",
            ),
            pytest.param(values(offset_key("other", A), b'{"position":1}'), {}, id="another connector's"),
            pytest.param(values(offset_key("fs2", A), b"rubbish"), {}, id="another connector's rubbish"),
            pytest.param(
                values(b' [ "fs" , {"filename": "/a"} ] ', b'{"position":1}'),
                {A_ID: {"position": 1}},
                id="white space in the key",
            ),
        ],
    )
    def test_view(self, records: list[LogRecord], expected: dict[str, Offset]) -> None:
        assert view_of(records).offsets == expected

    def test_committed_gives_partitions_with_their_offsets(self) -> None:
        view = view_of(values(A_KEY, b'{"position":1}'))
        assert list(view.committed()) == [(A, {"position": 1})]

    def test_the_last_record_of_a_key_wins_whatever_its_timestamp(self) -> None:
        older, newer = b'{"position":1}', b'{"position":2}'
        view = view_of([record(A_KEY, older, at=1, ms=2000), record(A_KEY, newer, at=2, ms=1000)])
        assert view.offsets == {A_ID: {"position": 2}}


class TestForeignRecords:
    GARBAGE = [
        None,
        b"",
        b"{",
        b"rubbish",
        b"\xff\xfe",
        b"[1,",
        b"1",
        b'"fs"',
        b"{}",
        b"[]",
        b'["other"]',
        b"[1,{}]",
        b'["other",[]]',
        b'["other",null]',
        b'["other",{},{}]',
    ]

    @pytest.mark.parametrize("key", GARBAGE, ids=repr)
    def test_a_key_without_sense_changes_nothing_and_is_warned_of(
        self, key: bytes | None, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.WARNING):
            view = view_of([record(key, b"x", partition=3, at=1234)])
        assert (view.offsets, view.plan, view.markers, view.facts) == ({}, None, {}, {})
        assert "connect-offsets-3@1234" in caplog.text

    def test_a_key_of_a_hundred_thousand_brackets_is_skipped(self) -> None:
        view_of([record(b"[" * 100_000, b"x")])

    @pytest.mark.parametrize(
        "key",
        [
            offset_key("other", A),
            plan_key("other"),
            marker_key("other", 0),
            facts_key("other", "{}"),
        ],
        ids=bytes.decode,
    )
    def test_records_of_another_connector_cause_no_warning(self, key: bytes, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING):
            view_of([record(key, b"rubbish")])
        assert not caplog.records

    @pytest.mark.parametrize("key", [plan_key("other"), marker_key("other", 0), facts_key("other", "{}")])
    def test_a_connector_may_be_named_kconnect(self, key: bytes) -> None:
        view_of([record(key, b"{}")], connector="kconnect")


class TestWhoseRecords:
    @pytest.mark.parametrize(
        ("key", "value", "is_new", "has_others"),
        [
            (claim_key("fs"), b"{}", True, False),
            pytest.param(claim_key("fs"), None, False, False, id="a run has ended, or offsets were reset"),
            (plan_key("fs"), PLAN.encode(), False, False),
            (marker_key("fs", 0), MARKER.encode(), False, False),
            (facts_key("fs", A_ID), b"{}", False, False),
            (A_KEY, b'{"position":1}', False, False),
            (A_KEY, None, False, False),
            pytest.param(b'["fs",1]', b"{}", False, False, id="its own rubbish"),
            (plan_key("fs2"), PLAN.encode(), True, True),
            (offset_key("fs2", A), b"{}", True, True),
            pytest.param(sink_key("fs", "t"), b"{}", True, True, id="a group of that name"),
            pytest.param(b"rubbish", b"", True, True, id="rubbish"),
        ],
    )
    def test_of_the_connector_or_of_others(
        self, key: bytes, value: bytes | None, is_new: bool, has_others: bool
    ) -> None:
        view = view_of([record(key, value)])
        assert (view.is_new, view.has_others) == (is_new, has_others)

    def test_an_empty_topic_has_neither(self) -> None:
        view = view_of([])
        assert (view.is_new, view.has_others) == (True, False)


class TestOwnBrokenRecords:
    @pytest.mark.parametrize(
        "value",
        [b"", b"{", b"1", b'"x"', b"[]", b'{"position":{}}', b'{"position":[1]}', b"\xff", b"\xac\xed\x00\x05"],
        ids=repr,
    )
    def test_an_offset_that_cannot_be_read_is_an_error(self, value: bytes) -> None:
        view = view_of([record(A_KEY, value)])
        with pytest.raises(DataError):
            _ = view.offsets
        with pytest.raises(DataError):
            list(view.committed())

    def test_an_offset_of_a_hundred_thousand_levels_is_an_error(self) -> None:
        with pytest.raises(DataError, match="is not a flat JSON object"):
            _ = view_of([record(A_KEY, b'{"a":' * 100_000)]).offsets

    def test_the_error_names_place_connector_source_partition_and_cure(self) -> None:
        with pytest.raises(DataError) as caught:
            _ = view_of([record(A_KEY, b"{", partition=3, at=1234)]).offsets
        text = str(caught.value)
        assert re.search(r'connector fs .*source partition {"filename":"/a"}', text)
        assert "at connect-offsets-3@1234 cannot be read" in text
        assert "Write the right offset (or a null value" in text

    @pytest.mark.parametrize(
        ("cure", "expected"),
        [(b'{"position":1}', {A_ID: {"position": 1}}), (None, {}), (b"null", {})],
        ids=["the right offset", "a tombstone", "JSON null"],
    )
    def test_once_replaced_it_does_no_harm(self, cure: bytes | None, expected: dict[str, Offset]) -> None:
        assert view_of(values(A_KEY, b"{", cure)).offsets == expected

    @pytest.mark.parametrize("key", [b'["fs"]', b'["fs",[]]', b'["fs",null]', b'["fs",{},1]', b'["fs","x"]'], ids=repr)
    def test_a_key_that_is_not_connector_and_map_is_an_error(self, key: bytes) -> None:
        with pytest.raises(DataError, match=r"its key is not \[connector, source partition\]"):
            view_of([record(key, b"{}")]).check_readable()

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            pytest.param(plan_key("fs"), b"{", id="plan cut off"),
            pytest.param(plan_key("fs"), b'{"version":2}', id="plan of a later version"),
            pytest.param(marker_key("fs", 0), b"{}", id="marker without members"),
            pytest.param(facts_key("fs", A_ID), b"{", id="facts cut off"),
        ],
    )
    def test_a_record_of_our_own_that_cannot_be_read_is_an_error(self, key: bytes, value: bytes) -> None:
        with pytest.raises(DataError, match="at connect-offsets-3@9 cannot be read: its value is unknown"):
            view_of([record(key, value, partition=3, at=9)]).check_readable()

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            pytest.param(plan_key("fs"), b'"x"', id="a plan that is a text"),
            pytest.param(b'["kconnect","split","fs","x"]', b"{}", id="a marker of split x"),
            pytest.param(plan_key("fs"), b"[" * 100_000, id="a plan of 100,000 levels"),
        ],
    )
    def test_other_broken_records_of_our_own_are_a_data_error_too(self, key: bytes, value: bytes) -> None:
        with pytest.raises(DataError):
            view_of([record(key, value)]).check_readable()

    @pytest.mark.parametrize("key", [plan_key("fs"), marker_key("fs", 0), facts_key("fs", A_ID), b'["fs","x"]'])
    def test_one_that_was_deleted_does_no_harm(self, key: bytes) -> None:
        view_of(values(key, b"{", None)).check_readable()


class TestOtherSpellings:
    """The same source partition under keys that differ in the order of their members."""

    def both(self, newer: bytes = BA_KEY, value: bytes | None = b'{"n":2}') -> list[LogRecord]:
        older = AB_KEY if newer == BA_KEY else BA_KEY
        return [
            record(older, b'{"n":1}', partition=0, at=70, ms=1000),
            record(newer, value, partition=1, at=3, ms=2000),
        ]

    def test_they_are_one_source_partition(self) -> None:
        assert list(view_of(self.both()).offsets) == [AB_ID]

    @pytest.mark.parametrize("turned", [False, True], ids=["older first", "newer first"])
    def test_the_newest_wins_whatever_the_order_of_reading(self, turned: bool) -> None:
        records = self.both()
        assert view_of(reversed(records) if turned else records).offsets == {AB_ID: {"n": 2}}

    @pytest.mark.parametrize(("newer", "older"), [(AB_KEY, BA_KEY), (BA_KEY, AB_KEY)], ids=["a first", "b first"])
    def test_the_newest_key_is_used_again_and_the_other_one_is_deleted(self, newer: bytes, older: bytes) -> None:
        assert view_of(self.both(newer)).offset_keys({"a": 1, "b": 2}) == (newer, [older])

    def test_a_whole_number_and_a_fraction_are_two_as_in_java(self) -> None:
        records = [record(b'["fs",{"a":1}]', b'{"n":1}'), record(b'["fs",{"a":1.0}]', b'{"n":2}', at=1)]
        assert view_of(records).offsets == {'{"a":1}': {"n": 1}, '{"a":1.0}': {"n": 2}}

    def test_a_spelling_that_was_deleted_before_is_not_deleted_again(self) -> None:
        records = [
            record(AB_KEY, None, at=1, ms=1000),
            record(BA_KEY, b'{"n":2}', partition=1, at=1, ms=2000),
        ]
        assert view_of(records).offset_keys({"a": 1, "b": 2}) == (BA_KEY, [])

    def test_deleting_the_old_spelling_keeps_the_offset(self) -> None:
        """What `SourceRun` writes: in one transaction the offset, then a tombstone for the other spelling."""
        view = view_of(self.both())
        current, (outdated,) = view.offset_keys({"a": 1, "b": 2})
        view.add(record(current, b'{"n":3}', partition=1, at=4, ms=3000))
        view.add(record(outdated, None, partition=0, at=71, ms=3000))
        assert view.offsets == {AB_ID: {"n": 3}}

    def test_connects_key_is_used_again_as_it_is(self) -> None:
        key = b'["fs", {"filename":"/a"}]'
        assert view_of([record(key, b'{"position":1}')]).offset_keys(A) == (key, [])

    def test_a_partition_without_offset_gets_a_canonical_key(self) -> None:
        assert view_of([]).offset_keys(A) == (A_KEY, [])


class TestOtherPartitioners:
    """The same key in two partitions of the topic."""

    def test_two_offsets_are_an_error_that_names_both_places(self) -> None:
        records = [record(A_KEY, b"{}", partition=0, at=5), record(A_KEY, b"{}", partition=3, at=7)]
        view, text = view_of(records), r"both at connect-offsets-0@5 and at connect-offsets-3@7"
        with pytest.raises(DataError, match=text):
            _ = view.offsets
        with pytest.raises(DataError, match=text):
            list(view.committed())
        with pytest.raises(DataError, match=text):
            view.offset_keys(A)

    def test_the_error_names_the_cure(self) -> None:
        records = [record(A_KEY, b"{}", partition=0), record(A_KEY, b"{}", partition=3)]
        with pytest.raises(DataError, match="Delete the wrong one"):
            _ = view_of(records).offsets

    def test_an_offset_next_to_an_older_tombstone_counts(self) -> None:
        records = [
            record(A_KEY, None, partition=0, at=5, ms=1),
            record(A_KEY, b'{"position":1}', partition=3, at=7, ms=2),
        ]
        assert view_of(records).offsets == {A_ID: {"position": 1}}

    CURED = (
        record(A_KEY, b'{"position":1}', partition=0, at=5, ms=1),
        record(A_KEY, b'{"position":9}', partition=3, at=7, ms=2),
        record(A_KEY, None, partition=3, at=8, ms=3),
    )

    @pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (1, 2, 0)], ids=str)
    def test_after_the_wrong_one_was_deleted_the_other_one_counts(self, order: tuple[int, ...]) -> None:
        assert view_of(self.CURED[n] for n in order).offsets == {A_ID: {"position": 1}}


class TestOurOwnRecords:
    @pytest.mark.parametrize(
        ("written", "expected"),
        [
            pytest.param([PLAN.encode()], PLAN, id="a plan"),
            pytest.param([PlanRecord("o", "o", 0).encode(), PLAN.encode()], PLAN, id="last wins"),
            pytest.param([PLAN.encode(), None], None, id="a finished plan"),
        ],
    )
    def test_plan(self, written: list[bytes | None], expected: PlanRecord | None) -> None:
        assert view_of(values(plan_key("fs"), *written)).plan == expected

    @pytest.mark.parametrize(
        ("written", "expected"),
        [
            pytest.param([MARKER.encode()], {7: MARKER}, id="a marker"),
            pytest.param(
                [MARKER.encode(), Marker("p", 9, True, 4).encode()], {7: Marker("p", 9, True, 4)}, id="last wins"
            ),
            pytest.param([MARKER.encode(), None], {}, id="a deleted marker"),
            pytest.param([None], {}, id="a tombstone of nothing"),
        ],
    )
    def test_markers(self, written: list[bytes | None], expected: dict[int, Marker]) -> None:
        assert view_of(values(marker_key("fs", 7), *written)).markers == expected

    @pytest.mark.parametrize(
        ("written", "expected"),
        [
            pytest.param([b'{"size":1}'], {A_ID: {"size": 1}}, id="facts"),
            pytest.param([b'{"size":1}', b'{"size":2}'], {A_ID: {"size": 2}}, id="last wins"),
            pytest.param([b'{"size":1}', None], {}, id="deleted facts"),
        ],
    )
    def test_facts(self, written: list[bytes | None], expected: dict[str, Any]) -> None:
        assert view_of(values(facts_key("fs", A_ID), *written)).facts == expected

    def test_records_of_our_own_are_not_offsets(self) -> None:
        records = [record(plan_key("fs"), PLAN.encode()), record(marker_key("fs", 0), MARKER.encode())]
        assert view_of(records).offsets == {}


class TestMorePartitions:
    """The topic has got more partitions: what is written since with the same key lies elsewhere."""

    FINISHED = (record(plan_key("fs"), PLAN.encode(), ms=1), record(plan_key("fs"), None, partition=17, ms=2))

    @pytest.mark.parametrize("turned", [False, True])
    def test_a_finished_plan_does_not_come_back(self, turned: bool) -> None:
        assert view_of(reversed(self.FINISHED) if turned else self.FINISHED).plan is None

    @given(
        written=st.lists(st.tuples(st.integers(0, 2), st.none() | st.integers(0, 9)), max_size=12),
        turn=st.permutations(range(3)),
    )
    def test_what_was_written_last_counts_whatever_the_order_of_reading(
        self, written: list[tuple[int, int | None]], turn: list[int]
    ) -> None:
        records = [
            record(
                marker_key("fs", 0), None if n is None else Marker("p", n, False, n).encode(), at=at, partition=where
            )
            for at, (where, n) in enumerate(written)
        ]
        last = written[-1][1] if written else None
        expected = {} if last is None else {0: Marker("p", last, False, last)}
        assert (
            view_of(sorted(records, key=lambda written_record: turn.index(written_record.partition))).markers
            == expected
        )

    def test_the_old_keys_are_known_when_the_plan_ends(self) -> None:
        assert view_of(self.FINISHED).of_runs() == [(plan_key("fs"), 0)]

    def test_an_old_record_that_cannot_be_read_does_no_harm(self) -> None:
        records = [record(plan_key("fs"), b"rubbish", ms=1), record(plan_key("fs"), PLAN.encode(), partition=17, ms=2)]
        for order in (records, records[::-1]):
            view = view_of(order)
            view.check_readable()
            assert view.plan == PLAN

    def test_facts_do_not_end_with_a_plan(self) -> None:
        assert view_of([record(facts_key("fs", A_ID), b"{}")]).of_runs() == []
