"""Reads primitive values of a batch of Avro messages, each for all messages at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, SchemaType
from airflow_kconnect.converters.avro.payloads.plans import Leaf, Node
from airflow_kconnect.converters.avro.schemas.schema import AvroType
from airflow_kconnect.converters.json.values import DAY_MS
from airflow_kconnect.converters.registered.numbers import DECIMAL_BYTES
from airflow_kconnect.converters.types import MAX_PRECISION, arrow_type, decimal_scale, logical_name

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from airflow_kconnect.converters.registered.cursor import Cursor, Integers

LAST_MS = (2**63 - 1) // 1000


def read_leaf(node: Leaf, cursor: Cursor, rows: Integers) -> pa.Array:
    """Read the next value of some messages, as `read_column`."""
    match node.wire:
        case AvroType.INT | AvroType.LONG:
            return _integers(node, cursor, rows)
        case AvroType.FLOAT | AvroType.DOUBLE:
            return _floats(node, cursor, rows)
        case AvroType.BOOLEAN:
            return _booleans(cursor, rows)
        case AvroType.ENUM:
            return _symbols(node, cursor, rows)
        case AvroType.FIXED:
            start, end = cursor.skip(rows, node.size)
        case _:
            start, end = cursor.skip(rows, cursor.varints(rows))
    return read_bytes(node, cursor, rows, start, end)


def _integers(node: Leaf, cursor: Cursor, rows: Integers) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    name, values = logical_name(node.schema), cursor.varints(rows)
    if node.wire is AvroType.INT:
        values = _in_range(values, -(2**31), 2**31 - 1, cursor, rows)
    if name == TIMESTAMP:
        values = _in_range(values, -LAST_MS, LAST_MS, cursor, rows) * 1000
        return pa.array(values).cast(arrow_type(node.schema))
    if name == TIME:
        values = _in_range(values, 0, DAY_MS - 1, cursor, rows)
    types: dict[SchemaType, Any] = {
        SchemaType.INT8: np.int8,
        SchemaType.INT16: np.int16,
        SchemaType.INT32: np.int32,
        SchemaType.INT64: np.int64,
    }
    numbers = pa.array(values.astype(types[node.schema.type]))
    return numbers.cast(pa.date32()) if name == DATE else numbers


def _in_range(values: Integers, lowest: int, highest: int, cursor: Cursor, rows: Integers) -> Integers:
    import numpy as np

    odd = (values < lowest) | (values > highest)
    if not odd.any():
        return values
    cursor.leave(rows[odd])
    return np.where(odd, 0, values)


def _floats(node: Leaf, cursor: Cursor, rows: Integers) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    size, dtype = (4, "<f4") if node.wire is AvroType.FLOAT else (8, "<f8")
    start, _ = cursor.skip(rows, size)
    return pa.array(np.ascontiguousarray(cursor.matrix(start, size)).view(dtype).reshape(-1))


def _booleans(cursor: Cursor, rows: Integers) -> pa.Array:
    import pyarrow as pa

    start, _ = cursor.skip(rows, 1)
    # As in Avro's Java library, which does not reject other bytes.
    return pa.array(cursor.data[start] == 1)


def _symbols(node: Leaf, cursor: Cursor, rows: Integers) -> pa.Array:
    import pyarrow as pa

    places = _in_range(cursor.varints(rows), 0, len(node.symbols) - 1, cursor, rows)
    return pa.array(node.symbols or ("",), pa.string()).take(pa.array(places))


def read_bytes(node: Node, cursor: Cursor, rows: Integers, start: Integers, end: Integers) -> pa.Array:
    """Bytes, text or decimals in the bytes from start to end of each message."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if logical_name(node.schema) == DECIMAL:
        return _decimals(node, cursor, rows, start, end)
    slices = cursor.slices(start, end)
    if node.schema.type is not SchemaType.STRING:
        return slices
    try:
        return slices.cast(pa.string())
    except pa.ArrowInvalid:
        odd = [not _is_text(data) for data in slices.to_pylist()]
        cursor.leave(rows[odd])
        return pc.if_else(pa.array(odd), pa.scalar(b""), slices).cast(pa.string())


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decimals(node: Node, cursor: Cursor, rows: Integers, start: Integers, end: Integers) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    sizes = end - start
    # Before the first byte there is the sign of the number.
    places = end[:, None] + np.arange(-DECIMAL_BYTES, 0)
    data = cursor.data[np.maximum(places, 0)]
    signs = np.where(cursor.data[start] > 0x7F, 0xFF, 0).astype(np.uint8)
    data = np.where(places < start[:, None], signs[:, None], data)
    words = data.view(">u8").astype(np.uint64)
    odd = (sizes < 1) | (sizes > DECIMAL_BYTES) | _too_large(words)
    if odd.any():
        cursor.leave(rows[odd])
        words[odd] = 0
    buffers = [None, pa.py_buffer(np.ascontiguousarray(words[:, ::-1]))]
    return pa.Array.from_buffers(pa.decimal128(MAX_PRECISION, decimal_scale(node.schema)), len(rows), buffers)


def _too_large(words: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which numbers of 128 bits have too many digits."""
    import numpy as np

    high, low = words[:, 0].astype(np.int64), words[:, 1]
    most = 10**MAX_PRECISION
    most_high, most_low = most >> 64, np.uint64(most % 2**64)
    least_high, least_low = -most >> 64, np.uint64(-most % 2**64)
    above = (high > most_high) | ((high == most_high) & (low >= most_low))
    below = (high < least_high) | ((high == least_high) & (low <= least_low))
    too_large: NDArray[np.bool_] = above | below
    return too_large
