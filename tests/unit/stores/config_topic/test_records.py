"""The bytes of the config topic: Connect's, as found in a topic of Connect 4.3.0."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.stores.config_topic import records
from airflow_kconnect.stores.config_topic.records import RecordKey, RestartRequest
from tests.support.connect.records import encode_commit, encode_task_count

_GOLDEN = Path(__file__).parents[3] / "golden" / "internal-topics.jsonl"
CONFIG_RECORDS = [
    entry for line in _GOLDEN.read_text().splitlines() if (entry := json.loads(line))["topic"] == "config"
]
WITH_VALUE = [entry for entry in CONFIG_RECORDS if entry["value"] is not None and entry["key"] != "session-key"]

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
NAMES = TEXT.filter(bool)
KINDS = st.sampled_from(
    [records.CONNECTOR, records.COMMIT, records.TASK_COUNT, records.TARGET_STATE, records.RESTART, records.LOGGER]
)
KEYS = (
    st.builds(RecordKey, KINDS, NAMES)
    | st.builds(RecordKey, st.just(records.TASK), NAMES, st.integers(0, 10_000))
    | st.just(RecordKey(records.SESSION_KEY))
)


def _again(entry: dict[str, Any]) -> bytes:
    """The value, decoded and encoded."""
    key, value = RecordKey.parse(entry["key"].encode()), entry["value"].encode()
    assert key is not None
    codecs: dict[str, Callable[[], bytes]] = {
        records.CONNECTOR: lambda: records.encode_properties(records.decode_properties(value) or {}),
        records.TASK: lambda: records.encode_properties(records.decode_properties(value) or {}),
        records.COMMIT: lambda: encode_commit(records.decode_commit(value)),
        records.TASK_COUNT: lambda: encode_task_count(records.decode_task_count(value)),
        records.RESTART: lambda: RestartRequest.decode(key.name, value).encode(),
    }
    return codecs[key.kind]()


class TestConnectsBytes:
    def test_there_are_golden_config_records(self) -> None:
        assert len(CONFIG_RECORDS) == 8

    @pytest.mark.parametrize("entry", CONFIG_RECORDS, ids=lambda entry: entry["key"])
    def test_a_key_has_the_bytes_of_connects(self, entry: dict[str, Any]) -> None:
        parsed = RecordKey.parse(entry["key"].encode())
        assert parsed is not None
        assert parsed.encode() == entry["key"].encode()

    @pytest.mark.parametrize("entry", WITH_VALUE, ids=lambda entry: entry["key"])
    def test_a_value_has_the_bytes_of_connects(self, entry: dict[str, Any]) -> None:
        assert _again(entry) == entry["value"].encode()

    def test_the_level_of_a_logger(self) -> None:
        assert records.encode_logger_level("DEBUG") == b'{"level":"DEBUG"}'


class TestKeys:
    @given(KEYS)
    def test_what_is_encoded_can_be_parsed(self, key: RecordKey) -> None:
        assert RecordKey.parse(key.encode()) == key

    def test_the_last_dash_of_a_task_precedes_its_number(self) -> None:
        assert RecordKey.parse(b"task-a-1-20") == RecordKey(records.TASK, "a-1", 20)

    @pytest.mark.parametrize(
        "key", [b"", b"\xff", b"task-a", b"task--1", b"task-a-", b"task-a-x", b"connector-", b"other-a"]
    )
    def test_anything_else_is_not_a_key(self, key: bytes) -> None:
        assert RecordKey.parse(key) is None


class TestProperties:
    @given(st.dictionaries(TEXT, st.none() | TEXT, max_size=4))
    def test_what_is_encoded_can_be_decoded(self, properties: dict[str, str | None]) -> None:
        assert records.decode_properties(records.encode_properties(properties)) == properties

    @pytest.mark.parametrize("value", [None, b"null"])
    def test_a_tombstone(self, value: bytes | None) -> None:
        assert records.decode_properties(value) is None

    @pytest.mark.parametrize(
        "value", [b"", b"{", b"[]", b"{}", b'{"properties":[]}', b'{"properties":{"a":1}}', b"[" * 100_000]
    )
    def test_anything_else_has_none(self, value: bytes) -> None:
        with pytest.raises(ValueError, match=r"Expecting|JSON|properties|texts|deeply"):
            records.decode_properties(value)


class TestNumbers:
    @given(st.integers(0, 2**31 - 1))
    def test_a_commit_can_be_decoded(self, tasks: int) -> None:
        assert records.decode_commit(encode_commit(tasks)) == tasks

    @pytest.mark.parametrize("value", [None, b'{"tasks":"1"}', b'{"tasks":true}', b'{"tasks":1.5}', b"{}"])
    def test_anything_else_is_not_a_commit(self, value: bytes | None) -> None:
        with pytest.raises(ValueError, match=r"tasks|no value"):
            records.decode_commit(value)

    def test_a_number_beyond_connects_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="out of range"):
            records.decode_task_count(b'{"task-count":4294967296}')
