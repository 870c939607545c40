"""What a sink has read, as recorded in the offset topic and next to a group's offsets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.log import LogRecord
from airflow_kconnect.stores.offset_topic.records import TopicRead, offset_key, plan_key, sink_key, sink_of
from airflow_kconnect.stores.offset_topic.sink_records import SinkRecords
from airflow_kconnect.stores.sink_positions import mark, marked_topic

OFFSETS = st.lists(st.one_of(st.none(), st.integers(0, 2**62)), max_size=5).map(tuple)


def record(value: bytes | None, *, key: bytes | None = None, partition: int = 0, ms: int = 0) -> LogRecord:
    return LogRecord("connect-offsets", partition, ms, ms, key or sink_key("connect-s", "t"), value)


def read(*written: LogRecord) -> dict[str, TopicRead]:
    records = SinkRecords("connect-s")
    for each in written:
        records.add(each)
    return records.read()


class TestKey:
    @given(st.text(), st.text())
    def test_says_group_and_topic(self, group: str, topic: str) -> None:
        assert sink_of(sink_key(group, topic)) == (group, topic)

    @pytest.mark.parametrize("key", [plan_key("sink"), offset_key("kconnect", {}), b"null", b"{", b"\xff"])
    def test_no_other_key_is_taken_for_one(self, key: bytes) -> None:
        assert sink_of(key) is None


class TestMark:
    def test_says_which_topic_it_was(self) -> None:
        assert marked_topic(mark("cluster", "topic-id"), "cluster") == "topic-id"

    def test_of_another_cluster_says_nothing(self) -> None:
        assert marked_topic(mark("cluster", "topic-id"), "copy") is None

    @given(st.text())
    def test_what_others_commit_says_nothing(self, metadata: str) -> None:
        assert marked_topic(metadata, "cluster") is None


class TestRecords:
    @given(st.one_of(st.none(), st.text()), OFFSETS)
    def test_are_read_as_they_were_written(self, topic_id: str | None, offsets: tuple[int | None, ...]) -> None:
        written = TopicRead(topic_id, offsets)
        assert read(record(written.encode())) == {"t": written}

    def test_the_last_one_counts(self) -> None:
        older, newer = TopicRead("a", (1,)), TopicRead("a", (2,))
        assert read(record(older.encode(), ms=1), record(newer.encode(), ms=2)) == {"t": newer}

    def test_the_newer_one_counts_if_two_partitions_have_one(self) -> None:
        older, newer = TopicRead("a", (1,)), TopicRead("a", (2,))
        by_topic = read(record(newer.encode(), partition=7, ms=2), record(older.encode(), partition=3, ms=1))
        assert by_topic == {"t": newer}

    def test_null_removes_it(self) -> None:
        assert read(record(TopicRead("a", (1,)).encode(), ms=1), record(None, ms=2)) == {}

    def test_those_of_other_groups_are_not_read(self) -> None:
        assert read(record(b"{}", key=sink_key("connect-other", "t"))) == {}

    @pytest.mark.parametrize(
        "value", [b"", b"[]", b"{}", b'{"version":2}', b'{"version":1,"topic_id":"a","offsets":["x"]}']
    )
    def test_one_that_cannot_be_read_is_an_error_that_names_its_place(self, value: bytes) -> None:
        with pytest.raises(DataError, match="connect-offsets-0@5, cannot be read"):
            read(record(value, ms=5))

    def test_offsets_are_those_of_the_partitions(self) -> None:
        records = SinkRecords("connect-s")
        records.add(record(TopicRead("a", (1, None, 3)).encode()))
        assert records.offsets() == {TopicPartition("t", 0): 1, TopicPartition("t", 2): 3}

    def test_places_are_those_that_have_to_be_removed(self) -> None:
        records = SinkRecords("connect-s")
        records.add(record(b"x", partition=1))
        records.add(record(None, partition=2))
        assert list(records.keys_and_partitions()) == [(sink_key("connect-s", "t"), 1)]
