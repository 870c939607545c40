"""Messages of one schema as Arrow columns, where they are read: texts, bytes, and what has a fixed number of bytes.

A batch with a message that is not correct is left to Catalyst, which knows what is wrong with it, or what replaces it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from airflow_kconnect.converters.registered.slices import bytes_of, offsets_of

if TYPE_CHECKING:
    import pyarrow as pa


class BytesParser:
    """Bytes as they are."""

    @property
    def type(self) -> pa.DataType:
        import pyarrow as pa

        return pa.binary()

    def parse(self, messages: pa.Array) -> pa.Array:
        return messages


class TextParser:
    """UTF-8."""

    @property
    def type(self) -> pa.DataType:
        import pyarrow as pa

        return pa.string()

    def parse(self, messages: pa.Array) -> pa.Array:
        import pyarrow as pa

        try:
            return messages.cast(pa.string())
        except pa.ArrowInvalid:
            return pa.nulls(len(messages), self.type)


@dataclass(frozen=True)
class FixedParser:
    """Numbers, big-endian, and booleans.

    :param kind: numpy's name of their type.
    """

    kind: str

    @property
    def type(self) -> pa.DataType:
        import numpy as np
        import pyarrow as pa

        return pa.from_numpy_dtype(np.dtype(self.kind).newbyteorder("="))

    def parse(self, messages: pa.Array) -> pa.Array:
        import numpy as np
        import pyarrow as pa

        given = messages.is_valid().to_numpy(zero_copy_only=False)
        offsets, size = offsets_of(messages), np.dtype(self.kind).itemsize
        data = bytes_of(messages)[offsets[0] : offsets[-1]]
        if (np.diff(offsets)[given] != size).any() or len(data) != size * given.sum():
            return pa.nulls(len(messages), self.type)
        if self.kind == "?" and len(data) and data.max() > 1:
            return pa.nulls(len(messages), self.type)
        numbers = np.zeros(len(messages), self.kind)
        numbers[given] = np.frombuffer(data.tobytes(), self.kind)
        return pa.array(numbers.astype(numbers.dtype.newbyteorder("=")), self.type, mask=~given)
