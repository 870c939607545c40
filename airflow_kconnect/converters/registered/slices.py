"""BINARY columns as offsets and bytes, and what follows: spread over more rows, joined row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

LONGEST = 2**31 - 1
"""The most bytes that a BINARY column can have; the end of a slice, without which pyarrow fails."""


def offsets_of(column: pa.Array) -> NDArray[np.int32]:
    """Where each row of a BINARY or STRING column begins and ends in `bytes_of` it: one more than rows."""
    import numpy as np

    buffer = column.buffers()[1]
    if buffer is None:
        return np.zeros(len(column) + 1, np.int32)
    return np.frombuffer(buffer, np.int32)[column.offset : column.offset + len(column) + 1]


def bytes_of(column: pa.Array) -> NDArray[np.uint8]:
    """All bytes that a BINARY or STRING column has in memory."""
    import numpy as np

    buffer = column.buffers()[2]
    return np.zeros(0, np.uint8) if buffer is None else np.frombuffer(buffer, np.uint8)


def content_of(column: pa.Array) -> NDArray[np.uint8]:
    """The bytes of all rows of a BINARY or STRING column."""
    offsets = offsets_of(column)
    return bytes_of(column)[offsets[0] : offsets[-1]]


def binary(lengths: NDArray[np.integer], data: NDArray[np.uint8]) -> pa.Array:
    """A BINARY column of rows of these lengths, one after the other.

    :raises DataError: it takes more than 2 GiB, the most that a batch can have.
    """
    import numpy as np

    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return of_offsets(offsets, data)


def of_offsets(offsets: NDArray[np.integer], data: NDArray[np.uint8]) -> pa.Array:
    """A BINARY column whose row ``i`` is the bytes from ``offsets[i]`` to ``offsets[i + 1]``.

    :raises DataError: as for `binary`.
    """
    import numpy as np
    import pyarrow as pa

    check_size(int(offsets[-1]))
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers)


def check_size(count: int) -> None:
    """:raises DataError: a BINARY column cannot have that many bytes."""
    if count > LONGEST:
        raise DataError(
            "A batch takes more than 2 GiB as messages: lower `spark.sql.execution.arrow.maxRecordsPerBatch`"
        )


def lengths_of(column: pa.Array) -> NDArray[np.int64]:
    """Number of bytes of each row of a BINARY or STRING column without nulls."""
    import numpy as np

    return np.diff(offsets_of(column)).astype(np.int64)


def list_offsets(column: pa.Array) -> NDArray[np.int64]:
    """Where the items of each list begin and end in the flattened column: one more than rows."""
    import numpy as np
    import pyarrow.compute as pc

    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def entries_of(column: pa.Array) -> tuple[pa.Array, pa.Array, pa.Array]:
    """A MAP column as one of lists, and the keys and values in them."""
    import pyarrow as pa

    lists = column.cast(pa.list_(column.type.field(0).type))
    keys, values = lists.flatten().flatten()
    return lists, keys, values


def numpy_of(column: pa.Array) -> NDArray[Any]:
    """The values of a column without nulls; copied where Arrow has them in another form."""
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values


def joined(parts: list[pa.Array], count: int) -> pa.Array:
    """The bytes of each row, one part after the other.

    :param count: number of rows.
    :raises DataError: they take more than 2 GiB.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not parts or not count:
        return repeated(b"", count)
    check_size(sum(int(offsets_of(part)[-1]) - int(offsets_of(part)[0]) for part in parts))
    return pc.binary_join_element_wise(*parts, pa.scalar(b"")) if len(parts) > 1 else parts[0]


def spread(parts: list[pa.Array], given: NDArray[np.bool_]) -> list[pa.Array]:
    """The parts of the given rows as those of all rows: the others have no bytes."""
    import numpy as np

    spread_parts = []
    for part in parts:
        lengths = np.zeros(len(given), np.int64)
        lengths[given] = lengths_of(part)
        offsets = offsets_of(part)
        spread_parts.append(binary(lengths, bytes_of(part)[offsets[0] : offsets[-1]]))
    return spread_parts


def scattered(column: pa.Array, given: NDArray[np.bool_]) -> pa.Array:
    """The values of the given rows as a column of all rows, with a null in each other one."""
    import numpy as np
    import pyarrow as pa

    return column if given.all() else column.take(pa.array(np.cumsum(given) - 1, mask=~given))


def without(part: pa.Array, where: NDArray[np.bool_]) -> pa.Array:
    """A part without bytes in some rows."""
    import pyarrow as pa

    return part if not where.any() else spread([part.filter(pa.array(~where))], ~where)[0]


def repeated(data: bytes, count: int) -> pa.Array:
    import numpy as np

    return binary(np.full(count, len(data)), np.frombuffer(data * count, np.uint8))
