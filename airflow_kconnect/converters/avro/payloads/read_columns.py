"""Reads a batch of Avro messages field by field, each for all messages at once.

It takes a small part of the time of reading record by record. Messages in which something is odd are left to
`read_records`, which says what is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from airflow_kconnect.converters.avro.payloads.read_leaves import read_bytes, read_leaf
from airflow_kconnect.converters.registered.slices import scattered
from airflow_kconnect.converters.types import arrow_type

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from airflow_kconnect.converters.registered.cursor import Cursor, Integers

# A step takes as long for few messages as for hundreds: long arrays of few messages are read one by one.
_STEPS = 32
_FEW = 16


def read_column(node: Node, cursor: Cursor, rows: Integers) -> pa.Array:
    """Read the next value of some messages.

    :param rows: indexes of the messages, ascending.
    :returns: in the `arrow_type` of the node's schema. Rows of messages that were left have no meaning.
    """
    match node:
        case Leaf():
            return read_leaf(node, cursor, rows)
        case Nullable():
            return _nullable(node, cursor, rows)
        case Record():
            columns = [(m.index, read_column(m.node, cursor, rows)) for m in node.members if m.node is not None]
            return _struct(node, [column for _, column in columns], len(rows))
        case Items():
            offsets, values = _blocks(node, (node.inner,), cursor, rows)
            return _list(node, offsets, values[0])
        case Pairs():
            return _map(node, cursor, rows)
        case Choice():
            return _choice(node, cursor, rows)
        case Raw():
            start, end = cursor.skip(rows, cursor.end[rows] - cursor.at[rows])
            return read_bytes(node, cursor, rows, start, end)
    raise AssertionError(node)


# Nullable values, structs, unions


def _nullable(node: Nullable, cursor: Cursor, rows: Integers) -> pa.Array:
    branches = cursor.varints(rows)
    given = branches == node.index
    odd = ~given if node.null_index is None else ~given & (branches != node.null_index)
    if odd.any():
        cursor.leave(rows[odd])
    return scattered(read_column(node.inner, cursor, rows[given]), given)


def _struct(node: Node, columns: list[pa.Array], count: int, nulls: pa.Array | None = None) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    type_ = arrow_type(node.schema)
    if not columns:
        mask = nulls or pa.array(np.zeros(count, np.bool_))
        return pa.array([{}] * count, type_).take(pa.array(np.arange(count), mask=mask.to_numpy(zero_copy_only=False)))
    return pa.StructArray.from_arrays(columns, fields=list(type_), mask=nulls)


def _choice(node: Choice, cursor: Cursor, rows: Integers) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    branches = cursor.varints(rows)
    known = np.zeros(len(rows), np.bool_) if node.null_index is None else branches == node.null_index
    nulls = known.copy()
    columns: dict[int, pa.Array] = {}
    for branch, index, member in node.branches:
        given = branches == branch
        known |= given
        columns[index] = scattered(read_column(member, cursor, rows[given]), given)
    if not known.all():
        cursor.leave(rows[~known])
    in_order = [columns[index] for index in range(len(node.schema.fields))]
    return _struct(node, in_order, len(rows), pa.array(nulls))


# Arrays and maps


def _blocks(node: Node, members: tuple[Node, ...], cursor: Cursor, rows: Integers) -> tuple[Integers, list[pa.Array]]:
    """Offsets of each message's items, and a column of all items for each member of an item.

    In each step an item of every message is read that has another one.
    """
    import numpy as np
    import pyarrow as pa

    counts = np.zeros(len(rows), np.int64)
    rest = np.zeros(len(rows), np.int64)
    open_ = np.arange(len(rows))
    owners: list[Integers] = [np.zeros(0, np.int64)]
    parts: list[list[pa.Array]] = [[pa.array([], arrow_type(member.schema))] for member in members]
    least = sum(map(least_size, members))
    for step in range(2**62):
        empty = open_[rest[open_] == 0]
        if empty.size:
            rest[empty] = _block_sizes(cursor, rows[empty], least)
            open_ = open_[rest[open_] > 0]
        if step >= _STEPS and open_.size < _FEW:
            cursor.leave(rows[open_])
            break
        if not open_.size:
            break
        for member, columns in zip(members, parts, strict=True):
            columns.append(read_column(member, cursor, rows[open_]))
        owners.append(open_)
        counts[open_] += 1
        rest[open_] -= 1
        rest[open_[cursor.left[rows[open_]]]] = 0
        open_ = open_[~cursor.left[rows[open_]]]
    order = pa.array(np.argsort(np.concatenate(owners), kind="stable"))
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return offsets, [pa.concat_arrays(columns).take(order) for columns in parts]


def _block_sizes(cursor: Cursor, rows: Integers, least: int) -> Integers:
    """Number of items in the next block of each message; 0 where there is none."""
    import numpy as np

    sizes = cursor.varints(rows)
    with_bytes = np.flatnonzero(sizes < 0)
    if with_bytes.size:
        cursor.varints(rows[with_bytes])
        sizes[with_bytes] = -sizes[with_bytes]
    odd = (sizes < 0) | (sizes > (cursor.end[rows] - cursor.at[rows]) // least)
    if odd.any():
        cursor.leave(rows[odd])
        sizes[odd] = 0
    return sizes


def _list(node: Node, offsets: Integers, values: pa.Array) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values, type=arrow_type(node.schema))


def _map(node: Pairs, cursor: Cursor, rows: Integers) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    members = (node.value, node.key) if node.value_first else (node.key, node.value)
    offsets, columns = _blocks(node, members, cursor, rows)
    keys, values = reversed(columns) if node.value_first else columns
    odd = _rows_to_check(keys, offsets)
    if odd.any():
        cursor.leave(rows[odd])
        keep = pa.array(~np.repeat(odd, np.diff(offsets)))
        keys, values = keys.filter(keep), values.filter(keep)
        offsets = np.concatenate([[0], np.cumsum(np.where(odd, 0, np.diff(offsets)))])
    return pa.MapArray.from_arrays(pa.array(offsets.astype(np.int32)), keys, values, type=arrow_type(node.schema))


def _rows_to_check(keys: pa.Array, offsets: Integers) -> NDArray[np.bool_]:
    """Which rows have a key twice, a null as a key, or keys that Arrow does not compare."""
    import numpy as np
    import pyarrow as pa

    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    odd = np.zeros(len(offsets) - 1, np.bool_)
    if pa.types.is_nested(keys.type):
        odd[owners] = True
        return odd
    odd[owners[keys.is_null().to_numpy(zero_copy_only=False)]] = True
    encoded = keys.dictionary_encode()
    codes = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    pairs = np.sort(owners * (len(encoded.dictionary) + 1) + codes)
    odd[pairs[1:][pairs[1:] == pairs[:-1]] // (len(encoded.dictionary) + 1)] = True
    return odd
