"""Upkeep waits for runs, and ends none."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.runtime.upkeep import wait_for_runs
from airflow_kconnect.stores.status_topic.run_records import RunRecord, RunState

RUNNING = RunRecord("d/r/t#1", RunState.RUNNING, 1_767_225_600_000)


def test_it_begins_when_the_last_run_has_ended() -> None:
    looks = iter([[RUNNING], [RUNNING], []])
    wait_for_runs(lambda: next(looks), wait_s=60, poll_s=0)
    assert next(looks, None) is None


def test_a_run_that_does_not_end_is_named() -> None:
    with pytest.raises(RetriableError, match=r"^run d/r/t#1 of the connector is in progress since 2026-01-01T00:00:00"):
        wait_for_runs(lambda: [RUNNING], wait_s=0)
