"""The wire formats of registered messages: bytes that name the schema, then the payload.

Those of Confluent: the magic byte 0 and an id of four bytes; or 1 and a GUID of sixteen, which travels in a header.
That of AWS Glue: the header version 3, a byte that says whether the payload is compressed (0, or 5 for zlib), and the
UUID of the schema's version.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple
from uuid import UUID

SchemaName = int | UUID
"""By what a message names its schema: an id, or a GUID or UUID."""


class Framing(NamedTuple):
    """What stands before payloads.

    :param magic: the first bytes. :param name_bytes: how many more name the schema: 4 of an id, 16 of a UUID.
    :param deflated: whether the payload is compressed with zlib.
    """

    magic: bytes
    name_bytes: int
    deflated: bool = False

    @property
    def size(self) -> int:
        """Bytes before the payload."""
        return len(self.magic) + self.name_bytes

    def begins(self, message: bytes) -> bool:
        """Whether a message has this framing."""
        return message.startswith(self.magic) and len(message) >= self.size

    def prefix(self, name: SchemaName) -> bytes:
        """What precedes the payload of a schema's messages; numbers are big-endian."""
        return self.magic + (name.bytes if isinstance(name, UUID) else name.to_bytes(self.name_bytes, "big"))


ID = Framing(b"\x00", 4)
GUID = Framing(b"\x01", 16)
GLUE = Framing(b"\x03\x00", 16)
GLUE_ZLIB = Framing(b"\x03\x05", 16, deflated=True)
FRAMINGS = (ID, GUID, GLUE, GLUE_ZLIB)

_ID_MAX = 2**31 - 1


def framing_of(message: bytes, framings: Iterable[Framing] = FRAMINGS) -> Framing | None:
    """The framing that a message has among these; None if it has another one, or none."""
    return next((framing for framing in framings if framing.begins(message)), None)


def schema_name(message: bytes, framing: Framing) -> SchemaName | None:
    """By what a message of this framing names its schema; None if the id is negative."""
    name = message[len(framing.magic) : framing.size]
    if framing.name_bytes == ID.name_bytes:
        number = int.from_bytes(name, "big")
        return number if number <= _ID_MAX else None
    return UUID(bytes=name)


def encode_indexes(indexes: Iterable[int]) -> bytes:
    """Protobuf's message indexes: their number and then each of them, as zig-zag varints; ``[0]`` is a single zero."""
    given = list(indexes)
    if given == [0]:
        return b"\x00"
    return b"".join(varint(number) for number in (len(given), *given))


def decode_indexes(payload: bytes) -> tuple[tuple[int, ...], int]:
    """The message indexes at the start of a Protobuf payload, and how many bytes they take.

    :raises ValueError: there are none.
    """
    numbers = _varints(payload)
    count, end = next(numbers)
    if count == 0:
        return (0,), end
    if not 0 < count <= len(payload):
        raise ValueError(f"{count} message indexes in {len(payload)} bytes")
    indexes: list[int] = []
    for _ in range(count):
        number, end = next(numbers)
        indexes.append(number)
    return tuple(indexes), end


def encode_index(index: int) -> bytes:
    """The number of a Protobuf message type with AWS Glue: a varint."""
    return unsigned_varint(index)


def decode_index(payload: bytes) -> tuple[int, int]:
    """The number at the start of a Protobuf payload with AWS Glue, and how many bytes it takes.

    :raises ValueError: there is none.
    """
    return next(_plain_varints(payload))


def varint(number: int) -> bytes:
    """A zig-zag varint, such as Avro's int and long."""
    return unsigned_varint((number << 1) ^ (number >> 63))


def unsigned_varint(number: int) -> bytes:
    """A number that is not negative: seven bits a byte, the lowest first."""
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*data, number])


def _varints(data: bytes) -> Iterator[tuple[int, int]]:
    """Zig-zag varints from the start of the data on, each with the position after it."""
    return (((value >> 1) ^ -(value & 1), at) for value, at in _plain_varints(data))


def _plain_varints(data: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while True:
        value = shift = 0
        while True:
            if at >= len(data) or shift > 28:
                raise ValueError("the message indexes are cut off")
            value |= (data[at] & 0x7F) << shift
            shift += 7
            at += 1
            if data[at - 1] < 0x80:
                break
        yield value, at
