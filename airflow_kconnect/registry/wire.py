"""The wire format of registered messages: a magic byte, the schema's id or GUID, then the payload.

The magic byte 0 precedes an id of four bytes. 1 precedes a GUID of sixteen, which travels in a header.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from uuid import UUID

MAGIC = b"\x00"
PREFIX_BYTES = 5
"""Length of magic byte and id."""
GUID_MAGIC = b"\x01"
GUID_PREFIX_BYTES = 17
"""Length of magic byte and GUID."""

_ID_MAX = 2**31 - 1


def prefix(schema_id: int) -> bytes:
    """What precedes the payload of a schema's messages: the magic byte and the id, 4 bytes, big-endian."""
    return MAGIC + schema_id.to_bytes(4, "big")


def schema_id(message: bytes) -> int | None:
    """The schema's id in a message; None if the message does not begin with magic byte and id."""
    if len(message) < PREFIX_BYTES or message[:1] != MAGIC:
        return None
    number = int.from_bytes(message[1:PREFIX_BYTES], "big")
    return number if number <= _ID_MAX else None


def guid_prefix(guid: UUID) -> bytes:
    """What names a schema in a header: the magic byte and the GUID."""
    return GUID_MAGIC + guid.bytes


def schema_guid(message: bytes) -> UUID | None:
    """The schema's GUID in a message; None if the message does not begin with magic byte and GUID."""
    if len(message) < GUID_PREFIX_BYTES or message[:1] != GUID_MAGIC:
        return None
    return UUID(bytes=message[1:GUID_PREFIX_BYTES])


def prefix_bytes(message: bytes) -> int:
    """The length of magic byte and id, or GUID, of a message that begins with them."""
    return GUID_PREFIX_BYTES if message[:1] == GUID_MAGIC else PREFIX_BYTES


def encode_indexes(indexes: Iterable[int]) -> bytes:
    """Protobuf's message indexes: their number and then each of them, as zig-zag varints; ``[0]`` is a single zero."""
    given = list(indexes)
    if given == [0]:
        return b"\x00"
    return b"".join(_varint(number) for number in (len(given), *given))


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


def _varint(number: int) -> bytes:
    rest = (number << 1) ^ (number >> 63)
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def _varints(data: bytes) -> Iterator[tuple[int, int]]:
    """Zig-zag varints from the start of the data on, each with the position after it."""
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
        yield (value >> 1) ^ -(value & 1), at
