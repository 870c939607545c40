"""One look at several connectors: what is asked once, and what is asked again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import pytest

from airflow_kconnect.connect.errors import ConnectError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.admin_answers import Bounds, Committed
from airflow_kconnect.kafka.shared import SharedKafka
from airflow_kconnect.stores.positions.looks import LookTogether, Wanted

A, B = TopicPartition("a", 0), TopicPartition("b", 0)


class Kafka:
    """Topics `a` and `b`; nothing is known of group `lost`, and `b` has no leader. Notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[object] = []

    @contextmanager
    def admin(self) -> Iterator[Kafka]:
        yield self

    def partitions_of(self, topics: Collection[str]) -> dict[str, int]:
        self.asked.append(("topics", *topics))
        if "refused" in topics:
            raise RetriableError("one of them is refused")
        return {topic: 1 for topic in topics if topic in "ab"}

    def topics(self) -> dict[str, int]:
        self.asked.append("all topics")
        return {"a": 1, "b": 1}

    def committed_by(
        self, groups: Mapping[str, Any], *, require_stable: bool
    ) -> dict[str, dict[TopicPartition, Committed] | ConnectError]:
        self.asked.append(("groups", *groups))
        return {group: RetriableError("lost") if group == "lost" else {A: Committed(3, "")} for group in groups}

    def committed_offsets(self, group: str) -> dict[TopicPartition, int]:
        self.asked.append(group)
        raise RetriableError(group)

    def known_bounds(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, Bounds]:
        self.asked.append(("ends", *map(str, partitions)))
        return {tp: Bounds(0, 5, 5) for tp in partitions if tp != B}

    def bounds(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, Bounds]:
        self.asked.append(("again", *map(str, partitions)))
        raise RetriableError("no leader")


def look_at(*wanted: Wanted) -> tuple[Kafka, LookTogether]:
    kafka = Kafka()
    return kafka, LookTogether(cast("SharedKafka", kafka), wanted)


def test_each_request_is_made_once_for_all() -> None:
    kafka, look = look_at(Wanted("one", ("a",)), Wanted("two", ("a", "none")))
    for group in ("one", "two"):
        assert look.partitions_of(["a"]) == {"a": 1}
        assert look.committed(group) == {A: 3}
        assert look.bounds([A]) == {A: Bounds(0, 5, 5)}
    assert kafka.asked == [("topics", "a", "none"), ("groups", "one", "two"), ("ends", "a-0")]


def test_a_group_without_an_answer_is_asked_again_alone() -> None:
    kafka, look = look_at(Wanted("one", ("a",)), Wanted("lost", ("a",)))
    assert look.committed("one") == {A: 3}
    with pytest.raises(RetriableError, match="lost"):
        look.committed("lost")
    assert kafka.asked == [("groups", "one", "lost"), "lost"]


def test_so_is_a_partition() -> None:
    kafka, look = look_at(Wanted("one", ("a",)), Wanted("two", by_pattern=lambda existing: ["b"]))
    assert look.bounds([A]) == {A: Bounds(0, 5, 5)}
    with pytest.raises(RetriableError, match="no leader"):
        look.bounds([B])
    assert kafka.asked == [("topics", "a"), "all topics", ("ends", "a-0", "b-0"), ("again", "b-0")]


def test_a_refused_topic_concerns_only_those_who_name_it() -> None:
    kafka, look = look_at(Wanted("one", ("a",)), Wanted("two", ("refused",)))
    assert look.partitions_of(["a"]) == {"a": 1}
    with pytest.raises(RetriableError):
        look.partitions_of(["refused"])
    assert kafka.asked == [("topics", "a", "refused"), ("topics", "a"), ("topics", "refused")]
