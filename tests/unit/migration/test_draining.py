"""Events of the control topic of Iceberg's sink: the beginning is read, whatever their payload is."""

from __future__ import annotations

import io
import json

import fastavro
import pytest

from airflow_kconnect.migration.advice import advice_about
from airflow_kconnect.migration.draining import NATIVE, Event, event_of

SCHEMA = {
    "type": "record",
    "name": "org.apache.iceberg.connect.events.Event",
    "fields": [
        {"name": "id", "type": {"type": "fixed", "name": "uuid_fixed", "size": 16}},
        {"name": "type", "type": "int"},
        {"name": "timestamp", "type": "long"},
        {"name": "group_id", "type": "string"},
        {"name": "payload", "type": {"type": "record", "name": "P", "fields": [{"name": "n", "type": "int"}]}},
    ],
}


def event(kind: int, group: str, timestamp: int = 1_700_000_000_000_000) -> bytes:
    body, schema = io.BytesIO(), json.dumps(SCHEMA).encode()
    record = {"id": b"0" * 16, "type": kind, "timestamp": timestamp, "group_id": group, "payload": {"n": 7}}
    fastavro.schemaless_writer(body, SCHEMA, record)
    return b"\xc2\x01" + len(schema).to_bytes(2, "big") + schema + body.getvalue()


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize("group", ["connect-orders", "connect-größe", "g" * 300])
def test_type_and_group_are_read(kind: int, group: str) -> None:
    assert event_of(event(kind, group)) == Event(kind, group)


@pytest.mark.parametrize("data", [b"", b"{}", b"\xc2\x01", event(1, "connect-orders")[:-12]])
def test_other_data_are_no_event(data: bytes) -> None:
    assert event_of(data) is None


def test_who_moves_the_sink_is_told_what_it_depends_on() -> None:
    config = {"connector.class": NATIVE}
    assert any("files of its tasks are not committed" in text for text in advice_about(NATIVE, config))
    assert not advice_about(NATIVE, {**config, "kconnect.hosted": "true"})
