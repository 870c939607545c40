"""Helpers shared by tests in all folders."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from typing import Any

import pytest


def unique(prefix: str) -> str:
    """A name that no other test uses."""
    return f"{prefix}-{uuid.uuid4().hex[:8]}"


def kill_points(points: Sequence[tuple[Any, ...]], *, always: Collection[str]) -> list[Any]:
    """Parameters of a test that kills runs at named points: those not listed in `always` are exhaustive."""
    return [
        pytest.param(*values, id=str(values[0]), marks=() if values[0] in always else pytest.mark.exhaustive)
        for values in points
    ]
