"""Plans: for each part of a Connect schema, how it is written in Avro. Decoders and encoders follow them; pickled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.converters.avro.schemas.schema import AvroType


@dataclass(frozen=True)
class Node:
    """How data of one schema are written.

    :param path: names of the fields around it, for errors.
    """

    schema: ConnectSchema
    path: str


@dataclass(frozen=True)
class Leaf(Node):
    """A primitive type.

    :param wire: the Avro type: BOOLEAN, INT, LONG, FLOAT, DOUBLE, BYTES, STRING, FIXED or ENUM.
    :param size: bytes of a FIXED.
    :param symbols: of an ENUM.
    :param units: what a millisecond is on the wire: 1,000 for ``timestamp-micros``. Only for writing: AvroData reads
        such types as plain integers.
    """

    wire: AvroType
    size: int = 0
    symbols: tuple[str, ...] = ()
    units: int = 1


@dataclass(frozen=True)
class Raw(Node):
    """A message that is nothing but bytes: it has no length, its end is that of the message."""


@dataclass(frozen=True)
class Nullable(Node):
    """A union of which one branch, or one and null, is used.

    :param index: of the branch.
    :param null_index: of null; None if the union does not have it.
    """

    inner: Node
    index: int
    null_index: int | None


@dataclass(frozen=True)
class Member:
    """A field of an Avro record.

    :param index: of the struct's field; None if the struct does not have it.
    :param node: how that is written.
    :param constant: what is written if the struct does not have it.
    :param default: written instead of null; None if there is none.
    """

    index: int | None
    node: Node | None = None
    constant: bytes = b""
    default: Any = None


@dataclass(frozen=True)
class Record(Node):
    """A struct.

    :param members: in the order of the Avro record.
    :param absent: index -> path of fields of the struct that the Avro record does not have.
    """

    members: tuple[Member, ...]
    absent: Mapping[int, str]


@dataclass(frozen=True)
class Items(Node):
    """An array."""

    inner: Node


@dataclass(frozen=True)
class Pairs(Node):
    """A map. An Avro map and an array of key-value records are written alike.

    :param value_first: whether the records have the value first.
    """

    key: Node
    value: Node
    value_first: bool = False


@dataclass(frozen=True)
class Choice(Node):
    """A union, held as a struct with a member for each branch.

    :param branches: index of the branch, index of the member, how that is written.
    :param null_index: of null; None if the union does not have it.
    """

    branches: tuple[tuple[int, int, Node], ...]
    null_index: int | None


def least_size(node: Node) -> int:
    """The fewest bytes that a value takes."""
    match node:
        case Record():
            return sum(len(m.constant) if m.node is None else least_size(m.node) for m in node.members)
        case Leaf(wire=AvroType.FIXED):
            return node.size
        case Leaf(wire=AvroType.FLOAT):
            return 4
        case Leaf(wire=AvroType.DOUBLE):
            return 8
        case Raw():
            return 0
    return 1
