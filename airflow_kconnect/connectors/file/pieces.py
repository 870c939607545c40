"""Texts of rows out of pieces: columns, and what is the same in all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import DATE, ConnectSchema
from airflow_kconnect.converters.java_columns import DAY_S

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Pieces = list[str | pa.Array]
    """Texts that follow each other in each row; one that is the same in all rows is a str."""

LONGEST = 2**31 - 1
"""The end of a slice: pyarrow fails without one."""


class NeedsCatalystError(Exception):
    """There is a value whose text only Catalyst can make."""


def or_catalyst(texts: pa.Array | None) -> pa.Array:
    """:raises NeedsCatalystError: there are no texts."""
    if texts is None:
        raise NeedsCatalystError
    return texts


def joined(pieces: Pieces, count: int) -> pa.Array:
    """The pieces of each row as one text.

    :param count: number of rows.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    merged: Pieces = []
    for piece in pieces:
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        elif not isinstance(piece, str) or piece:
            merged.append(piece)
    if not any(isinstance(piece, pa.Array) for piece in merged):
        return pa.repeat("".join(map(str, merged)), count)
    return pc.binary_join_element_wise(*merged, "") if len(merged) > 1 else merged[0]


def nullable(prefix: str, column: pa.Array, pieces: Callable[[pa.Array], Pieces]) -> pa.Array:
    """The texts of a column with a prefix; null stays null.

    :param pieces: of a column without nulls.
    """
    import numpy as np
    import pyarrow as pa

    if not column.null_count:
        return joined([prefix, *pieces(column)], len(column))
    given = column.is_valid().to_numpy(zero_copy_only=False)
    texts = joined([prefix, *pieces(column.drop_null())], int(given.sum()))
    return texts.take(pa.array(np.cumsum(given) - 1, mask=~given))


def entries_of(column: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Keys and values of the entries of all maps."""
    first, last = column.offsets[0].as_py(), column.offsets[-1].as_py()
    return column.keys.slice(first, last - first), column.items.slice(first, last - first)


def lists(column: pa.Array, items: pa.Array, separator: str) -> pa.Array:
    """The items of each list or map with separators in between.

    :param items: the texts of all of them.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    offsets = pc.subtract(column.offsets, column.offsets[0])
    return pc.binary_join(pa.ListArray.from_arrays(offsets, items), separator)


def milliseconds(schema: ConnectSchema, column: pa.Array) -> NDArray[np.int64]:
    """Dates and times as milliseconds since the epoch."""
    import numpy as np
    import pyarrow as pa

    if schema.name == DATE:
        days: NDArray[np.int64] = column.view(pa.int32()).to_numpy().astype(np.int64)
        return days * (DAY_S * 1000)
    if pa.types.is_timestamp(column.type):
        exact: NDArray[np.int64] = column.cast(pa.timestamp("us", column.type.tz)).view(pa.int64()).to_numpy()
        return exact // 1000
    numbers: NDArray[np.int64] = column.cast(pa.int64()).to_numpy()
    return numbers
