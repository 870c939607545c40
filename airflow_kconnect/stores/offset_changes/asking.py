"""What the Java class of a hosted connector is asked before its offsets change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from airflow_kconnect.connect.connector.source import Offset

ClassChange = tuple[dict[str, Any], Offset | None]
"""Partition and offset as Connect's REST API has them, of a sink too; an offset of None means reset."""

AskClass = Callable[[list[ClassChange]], bool]
"""Has the class check changes, and alter what it stores elsewhere; returns whether it manages offsets itself.

Raises ConfigError, keyed by `offsets`, if it refuses.
"""
