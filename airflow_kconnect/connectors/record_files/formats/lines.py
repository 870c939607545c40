"""Lines of text files as Arrow arrays, without Python for each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from airflow_kconnect.connectors.record_files.opening import Source

_BLOCK = 2 * 1024 * 1024
LONGEST = 64 * 1024 * 1024
_LF, _CR = 10, 13
BOM = b"\xef\xbb\xbf"


def lines_of(source: Source, begin: int, end: int | None, block: int = _BLOCK) -> Iterator[pa.BinaryArray]:
    """The lines between two positions, without what ends them. The last one need not be ended.

    :raises UnreadableFile: one is too long.
    """
    with source.text(begin, end) as stream:
        tail = stream.read(block)
        tail = tail.removeprefix(BOM) if begin == 0 else tail
        while chunk := stream.read(block) if tail else b"":
            if (cut := tail.rfind(b"\n") + 1) > 0:
                yield split(tail[:cut])
            tail = tail[cut:] + chunk
            if len(tail) > LONGEST:
                raise source.unreadable(f"has a line of more than {LONGEST // 1024 // 1024} MiB: is it a text file?")
        if tail:
            yield split(tail if tail.endswith(b"\n") else tail + b"\n")


def split(data: bytes) -> pa.BinaryArray:
    r"""The lines of bytes that end with ``\n``: texts and what ends them are one array; each second is taken."""
    seen = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(seen == _LF)
    starts = np.concatenate(([0], ends[:-1] + 1))
    stops = ends - ((ends > starts) & (seen[np.maximum(ends - 1, 0)] == _CR))
    edges = np.zeros(2 * len(ends) + 1, np.int32)
    edges[1::2], edges[2::2] = stops, ends + 1
    pieces = pa.BinaryArray.from_buffers(pa.binary(), 2 * len(ends), [None, pa.py_buffer(edges), pa.py_buffer(data)])
    return pieces.take(pa.array(np.arange(0, 2 * len(ends), 2)))
