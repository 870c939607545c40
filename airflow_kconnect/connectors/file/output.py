"""Texts as the bytes that are written, without copying."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def text_buffer(column: pa.Array) -> memoryview:
    """The concatenated texts of a STRING or BINARY column without nulls: the column's memory, not a copy."""
    import numpy as np
    import pyarrow as pa

    if not len(column):
        return memoryview(b"")
    large = pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type)
    _, offsets, data = column.buffers()
    if data is None:  # there are only nulls
        return memoryview(b"")
    edges = np.frombuffer(offsets, np.int64 if large else np.int32)
    return memoryview(data)[edges[column.offset] : edges[column.offset + len(column)]]
