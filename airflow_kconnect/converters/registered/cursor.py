"""Reads the messages of a batch side by side: a position in each, moved by operations on whole columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

_PADDING = 16
LONGEST_VARINT = 10
"""In bytes, of 64 bits."""


class Cursor:
    """Positions in the messages of a batch.

    A message in which something odd is found is left to those who read messages one by one: its position goes to its
    end, and what is read from it has no meaning.

    :param payloads: BINARY without nulls.
    """

    def __init__(self, payloads: pa.Array) -> None:
        import numpy as np

        from airflow_kconnect.converters.registered.slices import bytes_of, offsets_of

        offsets = offsets_of(payloads).astype(np.int64)
        start = offsets[0]
        # Reading a number may look some bytes beyond the end of the last message.
        self.data = np.concatenate([bytes_of(payloads)[start : offsets[-1]], np.zeros(_PADDING, np.uint8)])
        self.at: Integers = offsets[:-1] - start
        self.end: Integers = offsets[1:] - start
        self.left = np.zeros(len(payloads), np.bool_)

    def leave(self, rows: Integers) -> None:
        """Leave these messages to those who read them one by one."""
        self.left[rows] = True
        self.at[rows] = self.end[rows]

    def varints(self, rows: Integers) -> Integers:
        """The next int or long of Avro in each message; 0 where there is none."""
        import numpy as np

        value = self.unsigned(rows)
        return (value >> np.uint64(1)).astype(np.int64) ^ -(value & np.uint64(1)).astype(np.int64)

    def unsigned(self, rows: Integers) -> NDArray[np.uint64]:
        """The next integer of seven bits a byte in each message; 0 where there is none."""
        import numpy as np

        at = self.at[rows]
        byte = self.data[at]
        value = (byte & 0x7F).astype(np.uint64)
        more = np.flatnonzero(byte > 0x7F)
        at += 1
        shift = 7
        while more.size and shift < 7 * LONGEST_VARINT:
            byte = self.data[at[more]]
            value[more] |= (byte & 0x7F).astype(np.uint64) << np.uint64(shift)
            at[more] += 1
            more = more[byte > 0x7F]
            shift += 7
        odd = at > self.end[rows]
        odd[more] = True
        self.at[rows] = at
        if odd.any():
            self.leave(rows[odd])
            value[odd] = 0
        values: NDArray[np.uint64] = value
        return values

    def skip(self, rows: Integers, sizes: Integers | int) -> tuple[Integers, Integers]:
        """Start and end of the next bytes of each message; both at its end where there are not that many.

        :param sizes: numbers of bytes; negative ones are odd.
        """
        import numpy as np

        start, end = self.at[rows], self.end[rows]
        odd = (sizes > end - start) | (np.asarray(sizes) < 0)
        if odd.any():
            self.leave(rows[odd])
            start = np.where(odd, end, start)
            sizes = np.where(odd, 0, sizes)
        stop = start + sizes
        self.at[rows] = stop
        return start, stop

    def matrix(self, start: Integers, width: int) -> NDArray[np.uint8]:
        """Bytes from each start on, a row each.

        :param width: how many; at most 16.
        """
        import numpy as np

        rows: NDArray[np.uint8] = self.data[start[:, None] + np.arange(width)]
        return rows

    def slices(self, start: Integers, end: Integers) -> pa.Array:
        """The bytes from start to end of each row, as BINARY. Each row begins where the one before ends, or later."""
        import numpy as np
        import pyarrow as pa

        count = len(start)
        if not count:
            return pa.array([], pa.binary())
        # An array of the wanted bytes and those between them shares the messages' memory; every other one is copied.
        offsets = np.stack([start, end], axis=1).astype(np.int32)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self.data)]
        both = pa.Array.from_buffers(pa.binary(), 2 * count - 1, buffers)
        return both.take(pa.array(np.arange(0, 2 * count, 2)))
