"""Reads Avro messages one by one: those that `read_columns` has left, because they are long, rare or wrong."""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from airflow_kconnect.connect.data import DECIMAL, TIME, TIMESTAMP, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.payloads.plans import (
    Choice,
    Items,
    Leaf,
    Node,
    Nullable,
    Pairs,
    Raw,
    Record,
    least_size,
)
from airflow_kconnect.converters.avro.payloads.read_leaves import LAST_MS
from airflow_kconnect.converters.avro.schemas.schema import AvroType
from airflow_kconnect.converters.json.values import DAY_MS, TIME_RANGE
from airflow_kconnect.converters.registered.cursor import LONGEST_VARINT
from airflow_kconnect.converters.types import MAX_PRECISION, decimal_scale, logical_name

_BITS = {SchemaType.INT8: 8, SchemaType.INT16: 16}
# 128 bits, with any number of bytes that only repeat the sign.
_UNSCALED_MAX = 10**MAX_PRECISION


class Message:
    """A message, and how far it has been read."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        """The next bytes. :raises DataError: there are not that many."""
        if size < 0:
            raise DataError(f"Malformed data. Length is negative: {size}")
        if size > len(self.data) - self.at:
            raise DataError(f"{size} bytes expected, but the message has only {len(self.data) - self.at} more")
        self.at += size
        return self.data[self.at - size : self.at]

    def varint(self) -> int:
        """The next int or long. :raises DataError: there is none."""
        value = 0
        for index in range(LONGEST_VARINT):
            if self.at >= len(self.data):
                raise DataError("the message ends within a number")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                value &= 2**64 - 1
                return (value >> 1) ^ -(value & 1)
        raise DataError("Invalid long encoding")


Read = Callable[[Message], Any]


def record_reader(node: Node) -> Callable[[bytes], Any]:
    """A function that reads a message as a Python value of which Arrow makes one of the node's `arrow_type`.

    It raises DataError if the message is not as the schema says. As in Connect, bytes after the value are ignored.
    """
    read = _reader(node)
    return lambda data: read(Message(data))


def _reader(node: Node) -> Read:
    match node:
        case Leaf():
            return _with_path(_leaf(node), node.path)
        case Nullable():
            return _nullable(node)
        case Record():
            return _record(node)
        case Items():
            inner = _reader(node.inner)
            return _blocks(node, least_size(node.inner), inner)
        case Pairs():
            return _map(node)
        case Choice():
            return _choice(node)
        case Raw():
            return _with_path(_of_bytes(node, lambda message: message.take(len(message.data))), node.path)
    raise AssertionError(node)


def _with_path(read: Read, path: str) -> Read:
    """The same, with the field in errors."""

    def read_with_path(message: Message) -> Any:
        try:
            return read(message)
        except DataError as error:
            raise _error(path, str(error)) from error

    return read_with_path


def _error(path: str, problem: str) -> DataError:
    return DataError(f"Field {path}: {problem}" if path else problem)


# Primitive types


def _leaf(node: Leaf) -> Read:
    match node.wire:
        case AvroType.INT | AvroType.LONG:
            return _integer(node)
        case AvroType.FLOAT:
            return lambda message: struct.unpack("<f", message.take(4))[0]
        case AvroType.DOUBLE:
            return lambda message: struct.unpack("<d", message.take(8))[0]
        case AvroType.BOOLEAN:
            return lambda message: message.take(1) == b"\1"
        case AvroType.ENUM:
            return _symbol(node.symbols)
        case AvroType.FIXED:
            return _of_bytes(node, lambda message: message.take(node.size))
    return _of_bytes(node, lambda message: message.take(message.varint()))


def _integer(node: Leaf) -> Read:
    name, is_int, bits = logical_name(node.schema), node.wire is AvroType.INT, _BITS.get(node.schema.type)

    def read(message: Message) -> int:
        number = message.varint()
        if is_int and not -(2**31) <= number < 2**31:
            raise DataError("Invalid int encoding")
        if name == TIMESTAMP:
            if not -LAST_MS <= number <= LAST_MS:
                raise DataError("Timestamp is out of range")
            return number * 1000
        if name == TIME and not 0 <= number < DAY_MS:
            raise DataError(TIME_RANGE)
        # As Java's casts.
        return number if bits is None else (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)

    return read


def _symbol(symbols: tuple[str, ...]) -> Read:
    def read(message: Message) -> str:
        index = message.varint()
        if not 0 <= index < len(symbols):
            raise DataError(f"{index} is not the number of a symbol: the enum has {len(symbols)}")
        return symbols[index]

    return read


def _of_bytes(node: Node, take: Callable[[Message], bytes]) -> Read:
    if logical_name(node.schema) == DECIMAL:
        scale = decimal_scale(node.schema)
        return lambda message: _decimal(take(message), scale)
    if node.schema.type is SchemaType.STRING:
        # As in Java, bytes that are not UTF-8 become replacement characters.
        return lambda message: take(message).decode(errors="replace")
    return take


def _decimal(data: bytes, scale: int) -> Decimal:
    if not data:
        raise DataError("Zero length BigInteger")
    unscaled = int.from_bytes(data, "big", signed=True)
    if abs(unscaled) >= _UNSCALED_MAX:
        raise DataError(f"Decimal has more than {MAX_PRECISION} digits")
    return Decimal(f"{unscaled}E-{scale}")


# Others


def _nullable(node: Nullable) -> Read:
    inner = _reader(node.inner)

    def read(message: Message) -> Any:
        index = _branch(message, node.path)
        if index == node.index:
            return inner(message)
        if index == node.null_index:
            return None
        raise _error(node.path, f"{index} is not the number of a branch of the union")

    return read


def _branch(message: Message, path: str) -> int:
    try:
        return message.varint()
    except DataError as error:
        raise _error(path, str(error)) from error


def _record(node: Record) -> Read:
    members = [
        (node.schema.fields[m.index].name, _reader(m.node))
        for m in node.members
        if m.node is not None and m.index is not None
    ]
    return lambda message: {name: read(message) for name, read in members}


def _blocks(node: Node, least: int, item: Read) -> Read:
    def read(message: Message) -> list[Any]:
        items: list[Any] = []
        while count := _branch(message, node.path):
            if count < 0:
                _branch(message, node.path)
                count = -count
            if count > (len(message.data) - message.at) // least:
                raise _error(node.path, f"{count} items expected, but the message is too short for them")
            items.extend(item(message) for _ in range(count))
        return items

    return read


def _map(node: Pairs) -> Read:
    read_key, read_value = _reader(node.key), _reader(node.value)

    def entry(message: Message) -> tuple[Any, Any]:
        if node.value_first:
            value = read_value(message)
            return read_key(message), value
        return read_key(message), read_value(message)

    entries = _blocks(node, least_size(node.key) + least_size(node.value), entry)

    def read(message: Message) -> list[tuple[Any, Any]]:
        pairs = entries(message)
        if any(key is None for key, _ in pairs):
            raise _error(node.path, "Found null as a key of a map: maps in Spark have none")
        # As in Java's maps, the last of equal keys wins; keys may be lists or structs, which have no hash.
        return list({repr(key): (key, value) for key, value in pairs}.values())

    return read


def _choice(node: Choice) -> Read:
    readers = {branch: (node.schema.fields[index].name, _reader(member)) for branch, index, member in node.branches}
    nothing = {member.name: None for member in node.schema.fields}

    def read(message: Message) -> Any:
        index = _branch(message, node.path)
        if index in readers:
            name, value = readers[index]
            return {**nothing, name: value(message)}
        if index == node.null_index:
            return None
        raise _error(node.path, f"{index} is not the number of a branch of the union")

    return read
