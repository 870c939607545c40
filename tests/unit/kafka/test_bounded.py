"""Calls that might never return."""

from __future__ import annotations

import threading
import time

import pytest

from airflow_kconnect.kafka.bounded import bounded


def test_gives_what_the_call_returns() -> None:
    assert bounded(lambda: 7, 5) == 7


def test_raises_what_the_call_raises() -> None:
    with pytest.raises(ZeroDivisionError):
        bounded(lambda: 1 / 0, 5)


def test_a_call_that_does_not_return_is_left_behind() -> None:
    forever = threading.Event()
    began_s = time.monotonic()
    with pytest.raises(TimeoutError, match=r"no answer within 0\.1 s"):
        bounded(forever.wait, 0.1)
    assert time.monotonic() - began_s < 30
    forever.set()
