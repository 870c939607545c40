"""What the bytes of a class file say about a class: its superclass, its interfaces, whether it is abstract."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_MAGIC = 0xCAFEBABE
_INTERFACE, _ABSTRACT = 0x0200, 0x0400
_UTF8, _CLASS = 1, 7
# Size in bytes of each other kind of constant, without its tag (Java Virtual Machine Specification, 4.4).
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
_TAKES_TWO = (5, 6)


class NotAClass(Exception):
    """The bytes are not a class file."""


@dataclass(frozen=True)
class ClassFile:
    """The head of a class; names as in Java sources, with dots."""

    superclass: str
    interfaces: tuple[str, ...]
    abstract: bool


def parse(content: bytes) -> ClassFile:
    """The head of a class.

    :param content: the bytes of a `.class` file.
    :raises NotAClass: they are not.
    """
    try:
        return _parse(content)
    except (struct.error, KeyError, IndexError) as error:
        raise NotAClass(f"not a class file: {type(error).__name__}") from error


def _parse(content: bytes) -> ClassFile:
    magic, count = struct.unpack_from(">I4xH", content)
    if magic != _MAGIC:
        raise NotAClass("not a class file")
    texts: dict[int, str] = {}
    classes: dict[int, int] = {}
    at, index = 10, 1
    while index < count:
        tag = content[at]
        if tag == _UTF8:
            (length,) = struct.unpack_from(">H", content, at + 1)
            texts[index] = content[at + 3 : at + 3 + length].decode(errors="replace")
            at += 3 + length
        elif tag == _CLASS:
            (classes[index],) = struct.unpack_from(">H", content, at + 1)
            at += 3
        else:
            at += 1 + _SIZES[tag]
        index += 2 if tag in _TAKES_TWO else 1
    flags, _, superclass, interfaces = struct.unpack_from(">HHHH", content, at)
    indexes = struct.unpack_from(f">{interfaces}H", content, at + 8)

    def name(of: int) -> str:
        return texts[classes[of]].replace("/", ".") if of else ""

    return ClassFile(name(superclass), tuple(map(name, indexes)), bool(flags & (_INTERFACE | _ABSTRACT)))
