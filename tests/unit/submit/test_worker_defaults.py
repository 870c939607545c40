"""Tests for the worker keys that tasks and `kconnect` have unless others are set."""

from __future__ import annotations

import pytest

from airflow_kconnect.submit.worker_defaults import with_defaults

OFFSETS, STATUS = "offset.storage.topic", "status.storage.topic"


@pytest.mark.parametrize(
    ("worker", "status"),
    [
        ({}, "connect-status"),
        ({OFFSETS: "connect-offsets"}, "connect-status"),
        ({OFFSETS: ""}, "connect-status"),
        ({OFFSETS: "team-offsets"}, "team-status"),
        ({OFFSETS: "offsets_of_team"}, "offsets_of_team-status"),
        ({OFFSETS: "team-offsets", STATUS: "mine"}, "mine"),
        ({OFFSETS: "team-offsets", STATUS: ""}, ""),
    ],
)
def test_workers_with_different_offset_topics_do_not_share_a_status_topic(worker: dict[str, str], status: str) -> None:
    assert with_defaults(worker) == {**worker, STATUS: status}
