"""Encoders of whole batches: texts, bytes, numbers, and values one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.base import Written


def without_errors(messages: pa.Array) -> Written:
    """Messages of which none has failed."""
    return messages, pa.nulls(len(messages), pa.string())


@dataclass(frozen=True)
class TextEncoder:
    """The text of strings, booleans and integers."""

    def messages(self, data: pa.Array, topics: pa.Array | str) -> Written:
        return without_errors(data.cast(pa.string()).cast(pa.binary()))


@dataclass(frozen=True)
class ByteEncoder:
    """Bytes as they are."""

    def messages(self, data: pa.Array, topics: pa.Array | str) -> Written:
        return without_errors(data.cast(pa.binary()))


@dataclass(frozen=True)
class NumberEncoder:
    """Numbers as big-endian bytes.

    :param type: numpy's, such as ``>i4``.
    """

    type: str

    def messages(self, data: pa.Array, topics: pa.Array | str) -> Written:
        numbers = data.fill_null(pa.scalar(0).cast(data.type)).to_numpy(zero_copy_only=False).astype(self.type)
        if numbers.dtype.kind == "f":
            numbers[np.isnan(numbers)] = np.nan  # Java writes any NaN as the same bytes
        size, count = numbers.dtype.itemsize, len(numbers)
        offsets = np.arange(count + 1, dtype=np.int32) * np.int32(size)
        buffers = [data.is_valid().buffers()[1], pa.py_buffer(offsets), pa.py_buffer(numbers.tobytes())]
        return without_errors(pa.Array.from_buffers(pa.binary(), count, buffers))


@dataclass(frozen=True)
class Refusal:
    """Every value is an error.

    :param nulls: whether null is one, too.
    """

    problem: str
    nulls: bool = False

    def messages(self, data: pa.Array, topics: pa.Array | str) -> Written:
        errors = [self.problem if self.nulls or valid else None for valid in data.is_valid().to_pylist()]
        return pa.nulls(len(data), pa.binary()), pa.array(errors, pa.string())


@dataclass(frozen=True)
class EachValue:
    """Encodes value by value: for data that were made value by value, too.

    :param write: the message of a value; raises `DataError`. None: a tombstone.
    """

    write: Callable[[Any], bytes | None]

    def messages(self, data: pa.Array, topics: pa.Array | str) -> Written:
        messages: list[bytes | None] = []
        errors: list[str | None] = []
        for value in data.to_pylist():
            message, problem = None, None
            try:
                message = self.write(value)
            except DataError as error:
                problem = str(error)
            messages.append(message)
            errors.append(problem)
        return pa.array(messages, pa.binary()), pa.array(errors, pa.string())
