"""Points in time as users write them."""

from __future__ import annotations

from datetime import UTC, datetime


def moment_of(text: str) -> datetime:
    """A point in time in ISO 8601, in UTC if there is no zone.

    :raises ValueError: it is something else.
    """
    return in_utc_without_zone(datetime.fromisoformat(text))


def in_utc_without_zone(moment: datetime) -> datetime:
    """The same, in UTC if it has no zone."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
