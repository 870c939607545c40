"""Canonical JSON: the bytes that Connect's JsonConverter writes without schemas, so that keys compare equal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def canonical_json(value: Any) -> str:
    """Compact JSON in member order, non-ASCII as it is; NaN and infinity are refused with ValueError."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def partition_identity(source_partition: Mapping[str, Any]) -> str:
    """Text that is equal for equal source partitions, whatever the order of their members."""
    return json.dumps(source_partition, separators=(",", ":"), ensure_ascii=False, sort_keys=True)
