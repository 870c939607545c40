"""Where values that follow each other end, as in the blocks of container files: found by passing their bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

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
from airflow_kconnect.converters.avro.schemas.schema import AvroType
from airflow_kconnect.converters.registered.cursor import LONGEST_VARINT

_EMPTY_VALUES = 1_000_000
"""At most that many values without bytes follow each other: their number says nothing about the size."""

_VARINT, _SIZED = -1, -2
Skip = Callable[[bytes, int], int]
"""From a position to the one after a value. :raises ValueError, IndexError: there is no such value."""
_Step = int | Skip
"""A number of bytes, `_VARINT`, `_SIZED` (a number of bytes comes first), or anything else."""


def ends_of(node: Node, data: bytes, count: int) -> list[int]:
    """Where each of some values ends, which are all of the data.

    :raises ValueError: the data are not what the plan says.
    """
    least = least_size(node)
    if not 0 <= count <= (len(data) // least if least else _EMPTY_VALUES):
        raise ValueError(f"{count} records expected, in {len(data)} bytes")
    skip, at, ends = _skip(_steps(node)), 0, []
    try:
        for _ in range(count):
            at = skip(data, at)
            ends.append(at)
    except IndexError:
        at = len(data) + 1
    if at != len(data):
        raise ValueError(f"{count} records take {'more' if at > len(data) else 'less'} than its {len(data)} bytes")
    return ends


def varint(data: bytes, at: int) -> tuple[int, int]:
    """An int or long, and the position after it. :raises ValueError, IndexError: there is none."""
    value, at = unsigned(data, at)
    return (value >> 1) ^ -(value & 1), at


def unsigned(data: bytes, at: int) -> tuple[int, int]:
    """The number as which an int or long is written: twice its value, if that is not negative. Else as `varint`."""
    value = 0
    for shift in range(0, 7 * LONGEST_VARINT, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("a number has more than ten bytes")


def _skip(steps: list[_Step]) -> Skip:
    """One function for all steps: a call for each would take most of the time."""

    def skip(data: bytes, at: int) -> int:
        for step in steps:
            if step == _SIZED:
                size = data[at]
                at += 1
                if size > 0x7F:
                    size, at = unsigned(data, at - 1)
                if size & 1:
                    raise ValueError("a text or bytes have a negative length")
                at += size >> 1
            elif step == _VARINT:
                while data[at] > 0x7F:
                    at += 1
                at += 1
            elif isinstance(step, int):
                at += step
            else:
                at = step(data, at)
        return at

    return skip


def _steps(node: Node) -> list[_Step]:
    match node:
        case Leaf():
            return [_leaf(node)]
        case Record():
            return _merged(step for member in node.members if member.node is not None for step in _steps(member.node))
        case Nullable():
            return [_union({node.index: node.inner}, node.null_index)]
        case Choice():
            return [_union({branch: inner for branch, _, inner in node.branches}, node.null_index)]
        case Items():
            return [_items(_steps(node.inner))]
        case Pairs():
            first, second = (node.value, node.key) if node.value_first else (node.key, node.value)
            return [_items(_merged([*_steps(first), *_steps(second)]))]
        case Raw():
            return [_SIZED]
    raise AssertionError(node)


def _leaf(node: Leaf) -> int:
    match node.wire:
        case AvroType.INT | AvroType.LONG | AvroType.ENUM:
            return _VARINT
        case AvroType.FLOAT:
            return 4
        case AvroType.DOUBLE:
            return 8
        case AvroType.BOOLEAN:
            return 1
        case AvroType.FIXED:
            return node.size
    return _SIZED


def _merged(steps: Iterable[_Step]) -> list[_Step]:
    """Bytes that follow each other are one step."""
    merged: list[_Step] = []
    for step in steps:
        last = merged[-1] if merged else None
        if isinstance(step, int) and isinstance(last, int) and step >= 0 and last >= 0:
            merged[-1] = last + step
        else:
            merged.append(step)
    return merged


def _union(inner: dict[int, Node], null_index: int | None) -> Skip:
    skips = {branch: _skip(_steps(node)) for branch, node in inner.items()}
    if null_index is not None:
        skips[null_index] = lambda _, at: at
    by_byte = {branch << 1: skip for branch, skip in skips.items() if branch < 64}

    def skip(data: bytes, at: int) -> int:
        known = by_byte.get(data[at])
        if known is not None:
            return known(data, at + 1)
        branch, at = varint(data, at)
        if branch not in skips:
            raise ValueError(f"{branch} is not the number of a branch of a union")
        return skips[branch](data, at)

    return skip


def _items(steps: list[_Step]) -> Skip:
    skip_item = _skip(steps)

    def skip(data: bytes, at: int) -> int:
        while True:
            count, at = varint(data, at)
            if count == 0:
                return at
            if count < 0:
                size, at = varint(data, at)
                if size < 0:
                    raise ValueError("items of an array or a map have a negative length")
                at += size
                continue
            if count > len(data) - at:  # an item has at least a byte
                raise ValueError(f"{count} items expected, in {len(data) - at} bytes")
            for _ in range(count):
                at = skip_item(data, at)

    return skip
