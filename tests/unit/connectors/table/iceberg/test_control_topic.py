"""Events of the control topic of Iceberg's sink: the beginning is read, whatever their payload is."""

from __future__ import annotations

import pytest

from airflow_kconnect.connectors.table.iceberg.control_topic import Event, event_of
from tests.support.connect.iceberg import event


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize("group", ["connect-orders", "connect-größe", "g" * 300])
def test_type_and_group_are_read(kind: int, group: str) -> None:
    assert event_of(event(kind, group)) == Event(kind, group)


@pytest.mark.parametrize("data", [b"", b"{}", b"\xc2\x01", event(1, "connect-orders")[:-12]])
def test_other_data_are_no_event(data: bytes) -> None:
    assert event_of(data) is None
