"""Values of the config and status topics: JSON objects without schemas, checked as they are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")

INT32 = range(-(2**31), 2**31)
INT64 = range(-(2**63), 2**63)


def json_object(value: bytes | None) -> dict[str, Any] | None:
    """The object in a record's value; None for a tombstone, also for one written as JSON ``null``.

    :raises ValueError: it is anything else.
    """
    if value is None:
        return None
    try:
        data = json.loads(value)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if data is None or isinstance(data, dict):
        return data
    raise ValueError("not a JSON object")


def member(fields: Mapping[str, Any], name: str, kind: type[T]) -> T:
    """A member of an object.

    :raises ValueError: it is missing or of another type.
    """
    value = fields.get(name)
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    raise ValueError(f"`{name}` is {type(value).__name__}, expected {kind.__name__}")


def number(fields: Mapping[str, Any], name: str, bounds: range = INT32) -> int:
    """A whole number of an object.

    :raises ValueError: it is missing, of another type, or out of bounds.
    """
    value = member(fields, name, int)
    if value not in bounds:
        raise ValueError(f"`{name}` is {value}, which is out of range")
    return value


def optional_text(fields: Mapping[str, Any], name: str) -> str | None:
    """A text of an object, None if it is missing or null.

    :raises ValueError: it is of another type.
    """
    return None if fields.get(name) is None else member(fields, name, str)
