"""What a function raises, and what its errors show."""

from __future__ import annotations

from typing import Any

from airflow_kconnect.connect.errors import ConnectError, DataError, RetriableError, named

UNAVAILABLE = (ConnectionError, TimeoutError)
"""What says that a later run may succeed, besides `RetriableError`."""

_LONGEST = 200


def failure(who: str, error: Exception) -> ConnectError:
    """The error of a run whose function, or what belongs to it, raised this one."""
    if isinstance(error, ConnectError):
        return error
    kind = RetriableError if isinstance(error, UNAVAILABLE) else DataError
    return kind(f"{who}: {named(error)}")


def short(value: Any) -> str:
    """The beginning of a record, to find it by."""
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
