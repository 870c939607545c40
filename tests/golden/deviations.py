"""Where this project answers otherwise than Kafka Connect, on purpose: golden case -> reason."""

from __future__ import annotations

CONVERTERS = {
    "big int": "an integer beyond 64 bits keeps its value; Connect lets it wrap around to a negative number",
}
