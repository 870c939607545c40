"""From a connector's keys to schedules and parameters."""

from __future__ import annotations

from datetime import timedelta

import pytest
from airflow.sdk import CronDataIntervalTimetable, DeltaDataIntervalTimetable

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.operators.registered.settings import (
    checked_schedule,
    task_parameters,
    timetable,
    values_of,
)


class TestSchedules:
    @pytest.mark.parametrize("text", [None, ""])
    def test_none_is_manual(self, text: str | None) -> None:
        assert timetable(text) is None

    def test_cron_has_intervals_for_backfills(self) -> None:
        assert timetable("*/5 * * * *") == CronDataIntervalTimetable("*/5 * * * *", timezone="UTC")

    def test_presets_are_cron(self) -> None:
        assert timetable("@daily") == CronDataIntervalTimetable("0 0 * * *", timezone="UTC")

    @pytest.mark.parametrize("text", ["15m", "PT15M"])
    def test_intervals_are_intervals(self, text: str) -> None:
        assert timetable(text) == DeltaDataIntervalTimetable(timedelta(minutes=15))

    @pytest.mark.parametrize("text", ["@once", "@continuous"])
    def test_others_are_airflows(self, text: str) -> None:
        assert timetable(text) == text

    def test_a_wrong_default_is_an_error(self) -> None:
        with pytest.raises(ConfigError, match="`schedule`: 'hourly': expected cron"):
            checked_schedule("hourly")


def test_values_become_parameters() -> None:
    keys = {"retries": "5", "retry.delay.ms": "1500", "pool": "big", "pool.slots": "2", "owner": "shop"}

    parameters = task_parameters(values_of({f"kconnect.{key}": text for key, text in keys.items()}))

    assert parameters == {
        "retries": 5,
        "retry_delay": timedelta(milliseconds=1500),
        "pool": "big",
        "pool_slots": 2,
        "owner": "shop",
    }


def test_what_is_not_set_or_wrong_stays_as_the_dag_file_says() -> None:
    assert task_parameters(values_of({"kconnect.retries": "many"})) == {}
