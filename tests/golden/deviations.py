"""Where this project answers otherwise than Kafka Connect, on purpose: golden case -> reason."""

from __future__ import annotations

CONVERTERS = {
    "big int": "an integer beyond 64 bits keeps its value; Connect lets it wrap around to a negative number",
}

_SCHEMALESS_DATE = "a date without schema is written as ISO text; Connect's JsonConverter cannot write it at all"

TRANSFORMS: dict[str, dict[int, str]] = {
    f"TimestampConverter$Value: TimestampConverter$Value {case}": dict.fromkeys((2, 3), _SCHEMALESS_DATE)
    for case in ("to Timestamp", "to Date", "micros")
}
"""Golden case of a transformation -> index of the record -> reason."""
