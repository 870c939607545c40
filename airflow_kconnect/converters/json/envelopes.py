"""Recognises JsonConverter's envelopes by the bytes around their payload, without parsing the schema each time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.json.schemas import from_json_schema, schema_text, to_json_schema
from airflow_kconnect.java_text.json_reading import leniently

MALFORMED = "Converting byte[] to Kafka Connect data failed due to serialization error: "
ENVELOPE_REQUIRED = (
    'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain additional fields. '
    "If you are trying to deserialize plain JSON data, set schemas.enable=false in your converter configuration."
)
UNREADABLE = f"{MALFORMED}it nests too deeply, or has text that is not Unicode or invalid numbers"
NOT_UNDERSTOOD = "Schema is not understood: it nests too deeply, has text that is not Unicode or invalid numbers"
_KNOWN_MAX = 200
_KNOWN_BYTES = 4_000_000
_TEXT_MAX = 200
_MEMBERS = {"schema", "payload"}
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Pattern:
    """The bytes before and after the payload: the same in all messages of one schema from one writer."""

    prefix: bytes
    suffix: bytes = b"}"

    def matches(self, message: bytes) -> bool:
        around = len(self.prefix) + len(self.suffix)
        return len(message) > around and message.startswith(self.prefix) and message.endswith(self.suffix)


@dataclass
class KnownEnvelopes:
    """What was learnt from samples.

    :param shapes: shape of the messages with a pattern.
    :param problems: why the schema in messages with a pattern is invalid.
    :param texts: shapes by the JSON of their schemas: compact, members sorted.
    :param hopeless: SHA-256, in hexadecimal, of messages that cannot be read here, even if Spark can read them.
    """

    shapes: dict[Pattern, Shape] = field(default_factory=dict)
    problems: dict[Pattern, str] = field(default_factory=dict)
    texts: dict[str, Shape] = field(default_factory=dict)
    hopeless: set[str] = field(default_factory=set)

    def learn(self, message: bytes) -> Shape | None:
        """Shape of a message; None if it is not a valid envelope."""
        for pattern, shape in self.shapes.items():
            if pattern.matches(message):
                return shape
        envelope = split_envelope(message)
        if envelope is None:
            self.hopeless.add(sha256(message).hexdigest())
            return None
        pattern, node = envelope
        try:
            shape = Shape(from_json_schema(node))
            text = _for_java(_sorted_json(node))
            _for_java(schema_text(shape.schema))
        except DataError as error:
            self.problems[pattern] = _readable(str(error))
            return None
        except (ValueError, RecursionError):
            self.problems[pattern] = NOT_UNDERSTOOD
            return None
        self.texts[text] = shape
        return self.shapes.setdefault(pattern, shape)

    @property
    def full(self) -> bool:
        """Whether no more should be learnt: a plan contains all of this, several times."""
        patterns = [*self.shapes, *self.problems]
        size = sum(len(pattern.prefix) + len(pattern.suffix) for pattern in patterns)
        return len(patterns) + len(self.hopeless) >= _KNOWN_MAX or size >= _KNOWN_BYTES

    def patterns(self, shape: Shape, decimal_format: str) -> list[Pattern]:
        """The patterns of a shape; the first is the one with which JsonConverter itself writes it."""
        own = Pattern(f'{{"schema":{schema_text(shape.schema, decimal_format)},"payload":'.encode())
        return [own, *(pattern for pattern, of in self.shapes.items() if of == shape and pattern != own)]

    def canonical_texts(self, shape: Shape, decimal_format: str) -> list[str]:
        """The JSON texts seen for a shape's schema, and our own, as Spark prints a VARIANT."""
        own = None if shape.schema is None else to_json_schema(shape.schema, decimal_format)
        return [_sorted_json(own), *(text for text, of in self.texts.items() if of == shape)]


def _for_java(text: str) -> str:
    """A text to be used in a plan. :raises ValueError: it is not valid Unicode."""
    text.encode()
    return text


def _readable(text: str) -> str:
    """A text about a schema, in which names may have any length and be invalid Unicode."""
    return text[:_TEXT_MAX].encode(errors="backslashreplace").decode()


def _sorted_json(node: Any) -> str:
    """Canonical JSON. :raises ValueError: it contains NaN or an infinity, which JSON does not have."""
    return json.dumps(node, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=float)


def split_envelope(message: bytes) -> tuple[Pattern, Any] | None:
    """The bytes around the payload of an envelope, and the JSON of its schema; None if it is not an envelope."""
    try:
        text = message.decode()
        # Whatever the numbers look like, the members are at the same index.
        members = leniently(_by_name, text)
    except (ValueError, RecursionError):
        return None
    if members.keys() != _MEMBERS:
        return None
    _, start, end = members["payload"]
    return Pattern(text[:start].encode(), text[end:].encode()), members["schema"][0]


def _by_name(text: str) -> dict[str, tuple[Any, int, int]]:
    return {name: (value, start, end) for name, value, start, end in _members(text)}


def _members(text: str) -> Iterator[tuple[str, Any, int, int]]:
    """Name, value, start and end of the value for each member of a JSON object."""
    at = _expect(text, 0, "{")
    while True:
        name, at = _DECODER.raw_decode(text, _skip(text, at))
        start = _skip(text, _expect(text, at, ":"))
        value, end = _DECODER.raw_decode(text, start)
        yield name, value, start, end
        at = _skip(text, end)
        if text[at : at + 1] != ",":
            break
        at += 1
    _expect(text, at, "}")


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _expect(text: str, at: int, char: str) -> int:
    at = _skip(text, at)
    if text[at : at + 1] != char:
        raise json.JSONDecodeError(f"expected {char}", text, at)
    return at + 1
