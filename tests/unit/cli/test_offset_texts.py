"""Committed offsets as commands show them."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.cli.offset_texts import offset_text, short_offset

JDBC = {
    "partition": {"table": "orders"},
    "offset": {"timestamp": 1795632300123, "timestamp_nanos": 5, "incrementing": 7},
}
SINK = {"partition": {"kafka_topic": "t", "kafka_partition": 3}, "offset": {"kafka_offset": 1795632300123}}


def test_a_time_has_its_date() -> None:
    assert offset_text(JDBC).endswith(" (timestamp is 2026-11-25T18:45:00.123Z)")


@pytest.mark.parametrize(
    "offset", [{"incrementing": 1795632300123}, {"timestamp": 7}, {"timestamp": True}, {"timestamp": "now"}, None, 5]
)
def test_other_numbers_have_none(offset: Any) -> None:
    assert "(" not in offset_text({"partition": {"a": 1}, "offset": offset})


def test_microseconds_are_known() -> None:
    assert "ts_usec is 2026-11-25T18:45:00.123Z" in offset_text(
        {"partition": {}, "offset": {"ts_usec": 1795632300123456}}
    )


def test_in_short_only_what_changes_is_shown() -> None:
    assert short_offset(JDBC) == "timestamp 2026-11-25T18:45:00.123Z, timestamp_nanos 5, incrementing 7"
    assert short_offset(SINK) == "t-3@1795632300123"
