"""The bytes of the status topic: Connect's, as found in a topic of Connect 4.3.0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.stores.status_topic.records import (
    TRACE_MAX,
    ConnectorKey,
    State,
    Status,
    TaskKey,
    TopicKey,
    TopicStatus,
    parse_key,
)
from airflow_kconnect.stores.status_topic.run_records import RunsKey

_GOLDEN = Path(__file__).parents[3] / "golden" / "internal-topics.jsonl"
STATUS_RECORDS = [
    entry for line in _GOLDEN.read_text().splitlines() if (entry := json.loads(line))["topic"] == "status"
]

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
NAMES = TEXT.filter(bool)
TOPICS = st.text("abcXYZ019._-", min_size=1, max_size=12)
KEYS = (
    st.builds(ConnectorKey, NAMES)
    | st.builds(TaskKey, NAMES, st.integers(0, 9999))
    | st.builds(TopicKey, NAMES, TOPICS)
    | st.builds(RunsKey, NAMES)
)
GENERATIONS = st.integers(-(2**31), 2**31 - 1)
STATES = st.sampled_from([state for state in State if state is not State.DESTROYED])
STATUSES = st.builds(Status, STATES, TEXT, GENERATIONS, st.none() | TEXT, st.none() | TEXT)
TOPIC_STATUSES = st.builds(TopicStatus, TOPICS, NAMES, st.integers(0, 9999), st.integers(0, 2**62), st.none() | TEXT)


def _again(entry: dict[str, Any]) -> bytes | None:
    """The value, decoded and encoded."""
    value = entry["value"].encode()
    status = TopicStatus.decode(value) if entry["key"].startswith("status-topic-") else Status.decode(value)
    assert status is not None
    return status.encode()


class TestConnectsBytes:
    def test_there_are_golden_status_records(self) -> None:
        assert len(STATUS_RECORDS) == 4

    @pytest.mark.parametrize("entry", STATUS_RECORDS, ids=lambda entry: entry["value"])
    def test_a_key_has_the_bytes_of_connects(self, entry: dict[str, Any]) -> None:
        parsed = parse_key(entry["key"].encode())
        assert parsed is not None
        assert parsed.encode() == entry["key"].encode()

    @pytest.mark.parametrize("entry", STATUS_RECORDS, ids=lambda entry: entry["value"])
    def test_a_value_has_the_bytes_of_connects(self, entry: dict[str, Any]) -> None:
        assert _again(entry) == entry["value"].encode()

    def test_before_kafka_4_1_there_was_no_version(self) -> None:
        old = b'{"state":"RUNNING","trace":null,"worker_id":"w:1","generation":3}'
        assert Status.decode(old) == Status(State.RUNNING, "w:1", 3)


class TestKeys:
    @given(KEYS)
    def test_what_is_encoded_can_be_parsed(self, key: ConnectorKey | TaskKey | TopicKey | RunsKey) -> None:
        assert parse_key(key.encode()) == key

    @pytest.mark.parametrize(
        "key",
        [b"", b"\xff", b"status-", b"status-connector-", b"status-task-a", b"status-task--0", b"status-task-a-x",
         b"status-topic-t", b"status-topic-:connector-c", b"status-topic-t:connector-",
         b"kconnect-runs-"],
    )  # fmt: skip
    def test_anything_else_is_not_a_key(self, key: bytes) -> None:
        assert parse_key(key) is None


class TestStatuses:
    @given(STATUSES)
    def test_what_is_encoded_can_be_decoded(self, status: Status) -> None:
        assert Status.decode(status.encode()) == status

    def test_destroyed_is_a_tombstone(self) -> None:
        assert Status(State.DESTROYED, "w", 0).encode() is None

    def test_a_trace_of_megabytes_is_cut_off_once(self) -> None:
        read = Status.decode(Status(State.FAILED, "w", 0, "x" * 5_000_000).encode())
        assert read is not None
        assert TRACE_MAX < len(read.trace or "") < TRACE_MAX + 100
        assert Status.decode(read.encode()) == read

    @pytest.mark.parametrize(
        "value",
        [b"", b"[]", b"{}", b'{"state":"GONE","worker_id":"w","generation":1}', b'{"state":"RUNNING","worker_id":"w"}',
         b'{"state":"RUNNING","worker_id":null,"generation":1}',
         b'{"state":"RUNNING","worker_id":"w","generation":"1"}'],
    )  # fmt: skip
    def test_anything_else_is_not_a_status(self, value: bytes) -> None:
        with pytest.raises(ValueError, match=r"Expecting|JSON|state|State|generation|worker_id"):
            Status.decode(value)


class TestTopics:
    @given(TOPIC_STATUSES)
    def test_what_is_encoded_can_be_decoded(self, status: TopicStatus) -> None:
        assert TopicStatus.decode(status.encode()) == status

    @pytest.mark.parametrize("value", [b"{}", b'{"topic":1}', b'{"topic":{"name":"t","connector":"c","task":0}}'])
    def test_anything_else_is_none(self, value: bytes) -> None:
        with pytest.raises(ValueError, match=r"topic|discoverTimestamp"):
            TopicStatus.decode(value)
