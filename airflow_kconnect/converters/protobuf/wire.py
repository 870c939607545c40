"""Columns as the bytes of fields in messages, all rows at once. Absent fields have no bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from airflow_kconnect.converters.protobuf import fields
from airflow_kconnect.converters.registered.numbers import fixed_column, unsigned_column, varint_column
from airflow_kconnect.converters.registered.slices import binary, joined, lengths_of, numpy_of
from airflow_kconnect.registry.wire import unsigned_varint

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

_VARINT, _BYTES_8, LENGTH, _BYTES_4 = 0, 1, 2, 5
_WIRE_TYPES = {
    **dict.fromkeys(("fixed64", "sfixed64", "double"), _BYTES_8),
    **dict.fromkeys(("fixed32", "sfixed32", "float"), _BYTES_4),
    **dict.fromkeys(("string", "bytes", "message"), LENGTH),
}
FIXED = {
    "float": "f4",
    "double": "f8",
    "fixed32": "u4",
    "sfixed32": "i4",
    "fixed64": "u8",
    "sfixed64": "i8",
}

Bytes = Callable[["pa.Array"], "pa.Array"]
"""BINARY without nulls, of a column without nulls."""


def tag(field: Any, *, packed: bool = False) -> bytes:
    """The number of a field and its wire type."""
    return unsigned_varint(field.number << 3 | (LENGTH if packed else _WIRE_TYPES.get(fields.kind(field), _VARINT)))


def scalars(kind: str) -> Bytes:
    """The bytes of values of a type; integers, floats and booleans as Arrow has them, enums as numbers."""
    if kind in ("string", "bytes"):
        return with_lengths
    if kind in FIXED:
        return lambda column: fixed_column(numpy_of(column).astype(FIXED[kind]))
    if kind in ("sint32", "sint64"):
        return lambda column: varint_column(numpy_of(column).astype("i8"))
    if kind == "uint32":
        return lambda column: unsigned_column(_words(column) % 2**32)
    return lambda column: unsigned_column(_words(column))


def is_default(column: pa.Array) -> NDArray[np.bool_]:
    """Which values a field without presence leaves out; a negative zero is written."""
    import numpy as np
    import pyarrow as pa

    if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
        empty: NDArray[np.bool_] = lengths_of(column) == 0
        return empty
    values = numpy_of(column)
    bits = values.view(f"u{values.itemsize}") if values.dtype.kind == "f" else values
    return np.asarray(bits == 0)


def with_lengths(column: pa.Array) -> pa.Array:
    """Texts, bytes or messages, each after its length."""
    import numpy as np
    import pyarrow as pa

    data = column.cast(pa.binary())
    return joined([unsigned_column(lengths_of(data).astype(np.uint64)), data], len(data))


def after(prefix: bytes, column: pa.Array) -> pa.Array:
    """A constant before each value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(pa.scalar(prefix), column, pa.scalar(b""))


def in_rows(column: pa.Array, given: NDArray[np.bool_]) -> pa.Array:
    """The bytes of the given rows as those of all rows: the others have none."""
    import numpy as np

    from airflow_kconnect.converters.registered.slices import spread

    return column if given.all() else spread([column], np.asarray(given))[0]


def of_lists(items: pa.Array, counts: NDArray[np.integer]) -> pa.Array:
    """The bytes of the items of each row, one after the other."""
    import numpy as np

    from airflow_kconnect.converters.registered.slices import bytes_of, of_offsets, offsets_of

    ends = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=ends[1:])
    if not len(items):
        return binary(np.zeros(len(counts), np.int64), np.zeros(0, np.uint8))
    offsets = offsets_of(items).astype(np.int64)
    return of_offsets(offsets[ends] - offsets[0], bytes_of(items)[offsets[0] : offsets[-1]])


def _words(column: pa.Array) -> NDArray[np.uint64]:
    """Integers, or booleans, as 64 bits."""
    import numpy as np

    return numpy_of(column).astype(np.int64).view(np.uint64)
