"""What file-writing sinks share: hidden names, errors that name the path, texts without copying."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from airflow_kconnect.connect.system_errors import system_error

if TYPE_CHECKING:
    import pyarrow as pa

HIDDEN_SUFFIX = r"\.[0-9a-f]{32}\.tmp"
"""Regular expression for what follows the dot and the name in a `hidden_name`."""


def hidden_name(name: str) -> str:
    """A unique name for a file that readers must not see yet."""
    return f".{name}.{uuid.uuid4().hex}.tmp"


@contextlib.contextmanager
def named_errors(path: str | Path) -> Iterator[None]:
    """Turn operating system errors into ours and name the path.

    :raises RetriableError: the disk is full or unavailable.
    :raises DataError: anything else.
    """
    try:
        yield
    except OSError as error:
        raise system_error(f"cannot write {path}", error) from error


def sync_folder(folder: str | Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
