"""The bytes of the config topic: Connect's, as found in a topic of Connect 4.3.0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.stores.config_topic import records
from airflow_kconnect.stores.config_topic.records import RecordKey

_GOLDEN = Path(__file__).parents[3] / "golden" / "internal-topics.jsonl"
CONFIG_RECORDS = [
    entry for line in _GOLDEN.read_text().splitlines() if (entry := json.loads(line))["topic"] == "config"
]
CONNECTORS = [entry for entry in CONFIG_RECORDS if entry["key"].startswith("connector-") and entry["value"]]

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
NAMES = TEXT.filter(bool)
KINDS = st.sampled_from(
    [
        *(records.CONNECTOR, records.TASK, records.COMMIT, records.TASK_COUNT),
        *(records.TARGET_STATE, records.RESTART, records.LOGGER),
    ]
)
KEYS = st.builds(RecordKey, KINDS, NAMES) | st.just(RecordKey(records.SESSION_KEY))


class TestConnectsBytes:
    def test_there_are_golden_config_records(self) -> None:
        assert len(CONFIG_RECORDS) == 8

    @pytest.mark.parametrize("entry", CONFIG_RECORDS, ids=lambda entry: entry["key"])
    def test_a_key_has_the_bytes_of_connects(self, entry: dict[str, Any]) -> None:
        parsed = RecordKey.parse(entry["key"].encode())
        assert parsed is not None
        assert parsed.encode() == entry["key"].encode()

    @pytest.mark.parametrize("entry", CONNECTORS, ids=lambda entry: entry["key"])
    def test_a_configuration_has_the_bytes_of_connects(self, entry: dict[str, Any]) -> None:
        value = entry["value"].encode()
        assert records.encode_properties(records.decode_properties(value) or {}) == value

    def test_the_level_of_a_logger(self) -> None:
        assert records.encode_logger_level("DEBUG") == b'{"level":"DEBUG"}'


class TestKeys:
    @given(KEYS)
    def test_what_is_encoded_can_be_parsed(self, key: RecordKey) -> None:
        assert RecordKey.parse(key.encode()) == key

    @pytest.mark.parametrize("key", [b"", b"\xff", b"task-", b"connector-", b"other-a"])
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
