"""Where the REST API answers otherwise than Kafka Connect, on purpose: number of the request -> what, and why."""

from __future__ import annotations

MALFORMED = "a request that cannot be understood is the client's mistake: 400, where Connect answers 500"
STATUS: dict[int, tuple[int, str]] = {
    16: (400, MALFORMED),
    21: (400, MALFORMED),
    22: (400, MALFORMED),
    23: (400, MALFORMED),
    64: (400, "an offset that the connector does not accept is the client's mistake: 400, where Connect answers 500"),
    68: (400, MALFORMED),
    104: (400, MALFORMED),
}
"""Another status code."""

_OURS = "names and versions of this package"
_LIST = "other plugins are installed"
_KEYS = "own keys, and other words, beside Connect's"
BODY: dict[int, str] = {
    0: _OURS,
    3: _LIST,
    4: _LIST,
    5: _KEYS,
    7: _KEYS,
    8: _KEYS,
    9: _KEYS,
    97: "the loggers of Python's process",
}
"""Another body; what must be equal in it has a test of its own."""
