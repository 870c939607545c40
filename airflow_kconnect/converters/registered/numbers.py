"""Columns of numbers as the bytes of Avro and Protobuf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow_kconnect.converters.registered.slices import binary

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

DECIMAL_BYTES = 16
"""Of a decimal in a column."""


def varint_column(values: NDArray[np.int64]) -> pa.Array:
    """Integers as int or long: zig-zag, seven bits a byte, the lowest first."""
    import numpy as np

    return unsigned_column(((values << 1) ^ (values >> 63)).view(np.uint64))


def unsigned_column(values: NDArray[np.uint64]) -> pa.Array:
    """Integers without a sign: seven bits a byte, the lowest first."""
    import numpy as np

    largest = int(values.max()) if len(values) else 0
    width = max(1, -(-largest.bit_length() // 7))
    if width == 1:
        return binary(np.ones(len(values), np.int64), values.astype(np.uint8))
    shifts = np.arange(width, dtype=np.uint64) * np.uint64(7)
    groups = values[:, None] >> shifts
    used = groups > 0
    used[:, 0] = True
    data = (groups & np.uint64(0x7F)).astype(np.uint8)
    data[:, :-1] |= used[:, 1:].astype(np.uint8) << 7
    return binary(used.sum(axis=1), data[used])


def fixed_column(values: NDArray[Any]) -> pa.Array:
    """Numbers of a fixed size, little-endian."""
    import numpy as np

    data = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<")))
    return binary(np.full(len(values), data.itemsize), data.view(np.uint8))


def decimal_column(column: pa.Array) -> pa.Array:
    """Unscaled values of a decimal column, big-endian and as short as possible (``BigInteger.toByteArray``)."""
    import numpy as np

    data = _big_endian(column)
    sizes = _sizes(data)
    used = np.arange(DECIMAL_BYTES) >= DECIMAL_BYTES - sizes[:, None]
    return binary(sizes, data[used])


def fixed_decimal_column(column: pa.Array, size: int) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Unscaled values of a decimal column in this number of bytes, and which do not fit into them."""
    import numpy as np

    data = _big_endian(column)
    odd: NDArray[np.bool_] = _sizes(data) > size
    if size > DECIMAL_BYTES:
        signs = np.where(data[:, :1] > 0x7F, 0xFF, 0).astype(np.uint8)
        data = np.concatenate([np.repeat(signs, size - DECIMAL_BYTES, axis=1), data], axis=1)
    data = np.ascontiguousarray(data[:, data.shape[1] - size :])
    return binary(np.full(len(data), size), data.reshape(-1)), odd


def _big_endian(column: pa.Array) -> NDArray[np.uint8]:
    """The 16 bytes of each decimal."""
    import numpy as np

    data = np.frombuffer(column.buffers()[1], np.uint8).reshape(-1, DECIMAL_BYTES)
    reversed_bytes: NDArray[np.uint8] = data[column.offset : column.offset + len(column), ::-1]
    return reversed_bytes


def _sizes(data: NDArray[np.uint8]) -> NDArray[np.int64]:
    """How many of the last bytes are needed: those before only repeat the sign."""
    import numpy as np

    negative = data[:, 0] > 0x7F
    repeated = data == np.where(negative, 0xFF, 0).astype(np.uint8)[:, None]
    leading = np.minimum(np.cumprod(repeated, axis=1).sum(axis=1), DECIMAL_BYTES - 1)
    first = np.take_along_axis(data, leading[:, None], axis=1)[:, 0]
    # The first byte that is kept must have the sign.
    needs_sign = (leading > 0) & ((first > 0x7F) != negative)
    sizes: NDArray[np.int64] = DECIMAL_BYTES - leading + needs_sign
    return sizes


def decimals_of(unscaled: NDArray[np.int64], scale: int) -> pa.Array:
    """A column of decimals with 38 digits."""
    import numpy as np
    import pyarrow as pa

    # An Arrow decimal is two words, the lower one first.
    words = np.stack([unscaled, unscaled >> 63], axis=1)
    return pa.Array.from_buffers(pa.decimal128(38, scale), len(unscaled), [None, pa.py_buffer(words.tobytes())])
