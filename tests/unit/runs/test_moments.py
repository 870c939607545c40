"""Points in time as users write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from airflow_kconnect.runs.moments import moment_of

NOON = datetime(2026, 1, 31, 12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-31T12:00:00Z", NOON.replace(tzinfo=UTC)),
        ("2026-01-31T12:00:00", NOON.replace(tzinfo=UTC)),
        ("2026-01-31T12:00:00+02:00", NOON.replace(tzinfo=timezone(timedelta(hours=2)))),
    ],
)
def test_without_a_zone_it_is_in_utc(text: str, expected: datetime) -> None:
    assert moment_of(text) == expected


def test_other_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="isoformat"):
        moment_of("noon")
