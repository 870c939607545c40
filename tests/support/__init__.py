"""Helpers that tests of every folder share."""

from __future__ import annotations

import uuid


def unique(prefix: str) -> str:
    """A name that no other test uses."""
    return f"{prefix}-{uuid.uuid4().hex[:8]}"
