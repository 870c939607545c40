"""The bytes of the offset topic: Connect's, as found in a topic of Connect 4.3.0, and our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.connector.source import Split
from airflow_kconnect.stores.offset_topic.records import (
    Claim,
    Marker,
    PlanRecord,
    claim_key,
    facts_key,
    marker_key,
    offset_key,
    offset_value,
    plan_key,
)

_GOLDEN = Path(__file__).parents[3] / "golden" / "internal-topics.jsonl"
OFFSET_RECORDS = [
    entry for line in _GOLDEN.read_text().splitlines() if (entry := json.loads(line))["topic"] == "offset"
]

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
FLAT = st.dictionaries(TEXT, st.none() | st.booleans() | st.integers() | TEXT, max_size=3)
PROGRESS = st.integers() | TEXT
SPLITS = st.builds(Split, source_partition=FLAT, start=PROGRESS, end=PROGRESS, detail=FLAT)
PLANS = st.builds(
    PlanRecord, plan_id=TEXT, run_id=TEXT, tasks=st.integers(0), splits=st.lists(SPLITS, max_size=3).map(tuple)
)
MARKERS = st.builds(
    Marker,
    plan_id=TEXT,
    progress=st.none() | PROGRESS,
    done=st.booleans(),
    records=st.integers(0),
    topics=st.lists(TEXT).map(tuple),
)


class TestConnectsBytes:
    def test_there_are_golden_offset_records(self) -> None:
        assert len(OFFSET_RECORDS) == 3

    @pytest.mark.parametrize("entry", OFFSET_RECORDS, ids=lambda entry: entry["key"])
    def test_a_key_has_the_bytes_of_connects(self, entry: dict[str, Any]) -> None:
        connector, partition = json.loads(entry["key"])
        assert offset_key(connector, partition) == entry["key"].encode()

    @pytest.mark.parametrize("entry", [e for e in OFFSET_RECORDS if e["value"]], ids=lambda entry: entry["key"])
    def test_a_value_has_the_bytes_of_connects(self, entry: dict[str, Any]) -> None:
        assert offset_value(json.loads(entry["value"])) == entry["value"].encode()

    def test_members_of_a_key_keep_their_order(self) -> None:
        assert offset_key("c", {"b": 1, "a": "é"}) == '["c",{"b":1,"a":"é"}]'.encode()

    def test_a_name_with_quotes_is_escaped(self) -> None:
        assert offset_key('a"b', {}) == b'["a\\"b",{}]'


class TestOurKeys:
    @pytest.mark.parametrize(
        ("key", "expected"),
        [
            pytest.param(claim_key("c"), b'["kconnect","claim","c"]', id="claim"),
            pytest.param(plan_key("c"), b'["kconnect","plan","c"]', id="plan"),
            pytest.param(marker_key("c", 12), b'["kconnect","split","c","12"]', id="marker"),
            pytest.param(facts_key("c", '{"a":1}'), b'["kconnect","facts","c","{\\"a\\":1}"]', id="facts"),
        ],
    )
    def test_bytes(self, key: bytes, expected: bytes) -> None:
        assert key == expected

    @pytest.mark.parametrize(
        "key", [claim_key("c"), plan_key("c"), marker_key("c", 0), facts_key("c", "{}")], ids=bytes.decode
    )
    def test_connect_skips_them(self, key: bytes) -> None:
        """It wants a list of two members, the second one a map."""
        parsed = json.loads(key)
        assert len(parsed) != 2 or not isinstance(parsed[1], dict)


def test_a_claim_is_read_as_it_was_written() -> None:
    claim = Claim("id", "dag/run/täsk#1")
    assert Claim.decode(claim.encode()) == claim


class TestPlanRecord:
    PLAN = PlanRecord("p", "r", 1, (Split({"filename": "/é"}, 0, 10, {"head_bytes": 10}),))

    @given(PLANS)
    def test_round_trip(self, plan: PlanRecord) -> None:
        assert PlanRecord.decode(plan.encode()) == plan

    def test_bytes(self) -> None:
        expected = (
            '{"version":1,"plan_id":"p","run_id":"r","tasks":1,"splits":[{"source_partition":{"filename":"/é"},'
            '"start":0,"end":10,"detail":{"head_bytes":10}}]}'
        )
        assert self.PLAN.encode() == expected.encode()

    @pytest.mark.parametrize(
        "value",
        [
            b"{",
            b"[]",
            b"{}",
            b'{"version":2}',
            b'{"version":1}',
            b'{"version":1,"plan_id":"p","run_id":"r","tasks":1,"splits":5}',
            b'{"version":1,"plan_id":"p","run_id":"r","tasks":1,"splits":[{}]}',
            b'{"version":1,"plan_id":"p","run_id":"r","tasks":1,"splits":[],"new":1}',
            b"\xff\xfe",
        ],
        ids=[
            "cut off",
            "list",
            "no version",
            "later version",
            "no members",
            "splits of another type",
            "split without members",
            "unknown member",
            "not UTF-8",
        ],
    )
    def test_other_bytes_are_refused(self, value: bytes) -> None:
        with pytest.raises((ValueError, TypeError, KeyError)):
            PlanRecord.decode(value)

    @pytest.mark.parametrize("value", [b'"x"', b"1", b"null"], ids=bytes.decode)
    def test_json_that_is_not_an_object_is_refused(self, value: bytes) -> None:
        with pytest.raises((ValueError, TypeError, KeyError)):
            PlanRecord.decode(value)


class TestMarker:
    @given(MARKERS)
    def test_round_trip(self, marker: Marker) -> None:
        assert Marker.decode(marker.encode()) == marker

    def test_bytes(self) -> None:
        expected = b'{"plan_id":"p","progress":5,"done":false,"records":2,"topics":["t"]}'
        assert Marker("p", 5, False, 2, ("t",)).encode() == expected

    @pytest.mark.parametrize(
        "value", [b"", b"{", b"[]", b"1", b"{}", b'{"plan_id":"p"}', b"\xff"], ids=lambda value: repr(value)
    )
    def test_other_bytes_are_refused(self, value: bytes) -> None:
        with pytest.raises((ValueError, TypeError)):
            Marker.decode(value)
