"""Attempts and the waits between them."""

from __future__ import annotations

from airflow_kconnect.connectors.table.formats.iceberg.patience import Patience


def test_waits_grow_up_to_a_limit_and_the_first_attempt_has_none() -> None:
    waits: list[float] = []
    patience = Patience(attempts=6, first_s=1, longest_s=4, sleep=waits.append)
    assert list(patience) == [0, 1, 2, 3, 4, 5]
    limits = [1, 2, 4, 4, 4]
    assert len(waits) == len(limits)
    assert all(limit / 2 <= wait <= limit for wait, limit in zip(waits, limits, strict=True))
