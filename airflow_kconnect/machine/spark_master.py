"""What the address of a Spark master says."""

from __future__ import annotations

import re


def is_local(master: str) -> bool:
    """Whether Spark has no executors but the driver itself; `local-cluster[...]` has some."""
    return re.fullmatch(r"local(\[.*\])?", master) is not None
