"""Canonical JSON: the bytes that Connect's JsonConverter writes without schemas, so that keys compare equal."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile(r'[\x00-\x1f"\\\U00010000-\U0010ffff\ud800-\udfff]')


def canonical_json(value: Any) -> str:
    """Compact JSON in member order, as Jackson writes it: non-ASCII characters as they are, those beyond the BMP as two
    escapes, doubles as in Java. NaN and infinity are rejected with ValueError, other types with TypeError.
    """
    match value:
        case None | bool():
            return json.dumps(value)
        case str():
            return f'"{_ESCAPED.sub(_escape, value)}"'
        case int():
            return str(value)
        case float():
            return _java_double(value)
        case Decimal():
            return str(value)  # as `BigDecimal.toString`
        case Mapping():
            return "{" + ",".join(f"{canonical_json(str(k))}:{canonical_json(v)}" for k, v in value.items()) + "}"
        case list() | tuple():
            return "[" + ",".join(map(canonical_json, value)) + "]"
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if character in _SHORT:
        return _SHORT[character]
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n]:02X}{units[n + 1]:02X}" for n in range(0, len(units), 2))


def _java_double(value: float) -> str:
    """``Double.toString``: plain between 10^-3 and 10^7, else ``1.0E20``."""
    if not math.isfinite(value):
        raise ValueError(f"{value} cannot be written as JSON")
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    fraction = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{fraction}E{len(digits) - 1 + exponent}"


def partition_identity(source_partition: Mapping[str, Any]) -> str:
    """Text that is equal for equal source partitions, regardless of the order of their members."""
    return json.dumps(source_partition, separators=(",", ":"), ensure_ascii=False, sort_keys=True)
