"""Keys that say how Airflow runs a registered connector."""

from __future__ import annotations

from datetime import timedelta

import pytest

from airflow_kconnect.validation.connector import inspect_connector
from airflow_kconnect.validation.dag_keys import interval_of, schedule_problem

SOURCE = {"name": "a", "connector.class": "FileStreamSource", "file": "/in", "topic": "lines"}


def errors(**keys: str) -> dict[str, list[str]]:
    return inspect_connector({**SOURCE, **{f"kconnect.{name}": text for name, text in keys.items()}}).errors


@pytest.mark.parametrize(
    "text",
    [
        "0 * * * *",
        "*/5 0-6,22 1 JAN-MAR mon-fri",
        "0 0 1,15 * 7",
        "5/15 * 29 2 *",
        "0 0 31 2 mon",
        "@hourly",
        "@continuous",
        "30s",
        "15 m",
        "2h",
        "PT15M",
        "P1DT12H",
        "P2W",
    ],
)
def test_schedules_are_cron_presets_and_intervals(text: str) -> None:
    assert schedule_problem(text) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("hourly", "expected cron"),
        ("@minutely", "presets are"),
        ("60 * * * *", "`60` is not a minute"),
        ("* * 0 * *", "`0` is not a day of the month"),
        ("* * * foo *", "`foo` is not a month"),
        ("*/0 * * * *", "`*/0` is not a minute"),
        ("0 0 * * * *", "expected cron"),
        ("5-1 * * * *", "`5-1` is not a minute"),
        ("0 0 31 2,4 *", "no month has such a day"),
        ("0s", "shortest interval"),
        ("P", "expected cron"),
        ("PT", "expected cron"),
        ("999999999w", "too long"),
    ],
)
def test_other_schedules_are_errors(text: str, problem: str) -> None:
    assert problem in (schedule_problem(text) or "")


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("15m", 900), ("1w", 604_800), ("PT1M30S", 90), ("P1D", 86_400)]
)
def test_intervals_have_a_length(text: str, seconds: int) -> None:
    assert interval_of(text) == timedelta(seconds=seconds)


def test_an_empty_schedule_is_allowed() -> None:
    assert errors(schedule="") == {}


def test_all_errors_are_reported_at_once() -> None:
    found = errors(
        schedule="x", retries="-1", **{"retry.delay.ms": "soon", "pool": "", "pool.slots": "0", "tags": "a,,a"}
    )

    assert list(found) == [
        "kconnect.schedule",
        "kconnect.retries",
        "kconnect.retry.delay.ms",
        "kconnect.pool",
        "kconnect.pool.slots",
        "kconnect.tags",
    ]


def test_a_misspelt_key_is_a_warning_with_the_right_one() -> None:
    (warning,) = inspect_connector({**SOURCE, "kconnect.scheduel": "@daily"}).warnings

    assert "did you mean `kconnect.schedule`?" in warning
