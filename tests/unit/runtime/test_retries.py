"""The pauses between attempts: ``RetryWithToleranceOperator``."""

from __future__ import annotations

import math

import pytest

from airflow_kconnect.runtime.retries import Retries


@pytest.mark.parametrize(("attempt", "delay_s"), [(1, 0.3), (2, 0.6), (3, 1.2), (8, 38.4)])
def test_a_pause_is_twice_the_one_before(attempt: int, delay_s: float) -> None:
    assert Retries(-1).delay_s(attempt) == pytest.approx(delay_s)


@pytest.mark.parametrize("attempt", [9, 10, 100_000])
def test_beyond_the_longest_one_it_is_random(attempt: int) -> None:
    assert 0 <= Retries(-1).delay_s(attempt) < 60


@pytest.mark.parametrize(("timeout_ms", "limit_s"), [(0, 0), (1500, 1.5), (-1, math.inf)])
def test_for_how_long(timeout_ms: int, limit_s: float) -> None:
    assert Retries(timeout_ms).limit_s == limit_s


def test_the_default_is_not_at_all() -> None:
    assert Retries.of({"errors.retry.timeout": 0, "errors.retry.delay.max.ms": 60_000}).limit_s == 0
