"""What an overview keeps of an offset topic."""

from __future__ import annotations

import json
from typing import Any

from airflow_kconnect.control.overview.offsets import OffsetTopicState
from airflow_kconnect.kafka.log import LogRecord
from airflow_kconnect.stores.offset_topic.records import TopicRead, claim_key, offset_key, sink_key


def _record(key: bytes | None, value: Any, at: int) -> LogRecord:
    return LogRecord("offsets", 0, at, at * 1000, key, None if value is None else json.dumps(value).encode())


def _state(*records: tuple[bytes | None, Any]) -> OffsetTopicState:
    state = OffsetTopicState()
    for at, (key, value) in enumerate(records, 1):
        state.add(_record(key, value, at))
    return state


A, B = offset_key("lines", {"file": "a"}), offset_key("lines", {"file": "b"})


def test_the_newest_offset_of_a_source() -> None:
    found = _state((A, {"position": 1}), (B, {"position": 2}), (A, {"position": 3})).source("lines")
    assert found is not None
    assert (found.partitions, found.newest, found.changed_ms) == (
        2,
        {"partition": {"file": "a"}, "offset": {"position": 3}},
        3000,
    )


def test_an_offset_that_was_reset_is_gone() -> None:
    assert _state((A, {"position": 1}), (A, None)).source("lines") is None


def test_the_offsets_of_a_group() -> None:
    state = OffsetTopicState()
    for topic, offsets in (("t", (3, None)), ("u", (4,))):
        state.add(LogRecord("offsets", 0, 1, 7, sink_key("connect-a", topic), TopicRead(None, offsets).encode()))
    found = state.group("connect-a")
    assert found is not None
    assert (found.partitions, found.records, found.newest) == (2, 7, None)


def test_other_records_are_left_out() -> None:
    state = _state((None, 1), (b"{", 1), (b'["a"]', 1), (claim_key("lines"), {}), (sink_key("g", "t"), "no offsets"))
    found = state.group("g")
    assert state.source("lines") is None
    assert found is not None
    assert found.partitions == 0
