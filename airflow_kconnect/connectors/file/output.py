"""What sinks that write files share: hidden names, errors that name the path, texts without a copy."""

from __future__ import annotations

import contextlib
import errno
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from airflow_kconnect.connect.errors import DataError, RetriableError

if TYPE_CHECKING:
    import pyarrow as pa

HIDDEN_SUFFIX = r"\.[0-9a-f]{32}\.tmp"
"""Regular expression of what follows the dot and the name in a `hidden_name`."""

_MAY_PASS = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE}


def hidden_name(name: str) -> str:
    """A name that nobody else has, for a file that readers must not see yet."""
    return f".{name}.{uuid.uuid4().hex}.tmp"


@contextlib.contextmanager
def named_errors(path: str | Path) -> Iterator[None]:
    """Errors of the operating system become ours and name the path.

    :raises RetriableError: the disk is full or away.
    :raises DataError: anything else.
    """
    try:
        yield
    except OSError as error:
        text = f"cannot write {path}: {error.strerror or error}"
        if error.errno in _MAY_PASS:
            raise RetriableError(f"{text}; free space or repair the disk, then run again") from error
        raise DataError(text) from error


def sync_folder(folder: str | Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def text_buffer(column: pa.Array) -> memoryview:
    """The texts of a STRING or BINARY column without nulls, one after the other: the column's memory, no copy."""
    import numpy as np
    import pyarrow as pa

    if not len(column):
        return memoryview(b"")
    large = pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type)
    _, offsets, data = column.buffers()
    edges = np.frombuffer(offsets, np.int64 if large else np.int32)
    return memoryview(data)[edges[column.offset] : edges[column.offset + len(column)]]
