"""Values of items as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any


def is_null(value: Any) -> bool:
    """Whether it is None, or what pandas has in its place: NaN, or NaT, which is a `datetime`."""
    return value is None or (isinstance(value, float | datetime) and value != value)


def plain(value: Any) -> Any:
    """A value as JSON knows it, in dlt's own forms: decimals and moments are texts, bytes are Base64, NaN is null."""
    if is_null(value):
        return None
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return _plain_items(value)
    if hasattr(value, "tolist"):  # of NumPy
        return plain(value.tolist())
    from dlt.common.json import custom_encode

    return plain(custom_encode(value))


def _plain_items(values: Iterable[Any]) -> list[Any]:
    return [plain(value) for value in values]
