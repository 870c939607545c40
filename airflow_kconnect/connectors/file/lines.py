"""Reads the lines of a byte range of a file as Arrow batches, without running Python for each line.

Lines end as in Connect's FileStreamSource: at ``\\n``, ``\\r\\n`` or a lone ``\\r``. A *line start* is position 0 or a
position after a terminator. Positions are bytes (Connect counts characters, which is wrong beyond ASCII).
"""

from __future__ import annotations

from collections.abc import Iterator
from io import FileIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.file.opening import Input, opened, unreadable

# Larger batches were measured to be slower: they do not fit into the processor's cache.
BATCH_BYTES = 2 * 1024 * 1024
MAX_LINE_BYTES = 8 * 1024 * 1024
LINES = pa.schema([pa.field("progress", pa.int64(), nullable=False), pa.field("value", pa.string(), nullable=False)])

_LF, _CR = 10, 13
_SEARCH_BYTES = 64 * 1024

Positions = npt.NDArray[np.int64]


def read_lines(
    path: Input,
    start: int,
    end: int,
    *,
    batch_bytes: int = BATCH_BYTES,
    max_line_bytes: int = MAX_LINE_BYTES,
) -> Iterator[pa.RecordBatch]:
    """The lines in ``[start, end)``: ``progress`` is the position after the terminator, ``value`` the text before it.

    :param start: a line start.
    :param end: a line start, or the end of the last terminated line as returned by `last_line_end`.
    :param batch_bytes: how much is read at once; at most this much and one line are held in memory.
    :raises DataError: a line is not UTF-8 (nothing is replaced), is too long, or the file is shorter than `end`.
    """
    with _opened(path, start) as file:
        tail, at = b"", start
        while at + len(tail) < end:
            # As much again as the tail: a line much longer than a batch is scanned a constant number of times.
            size = min(max(batch_bytes, len(tail)), end - at - len(tail))
            chunk = tail + _read(file, size, path, at + len(tail))
            ends = _line_ends(chunk, final=at + len(chunk) == end)
            done = int(ends[-1]) if len(ends) else 0
            stops = _content_ends(chunk, ends)
            _check_lengths(chunk, ends, stops, path, at, max_line_bytes)
            if done:
                _check_utf8(memoryview(chunk)[:done], path, at)
                yield _batch(chunk, ends, stops, at)
            tail, at = chunk[done:], at + done
        if tail:
            raise DataError(f"{path}@{at}: no line ends before position {end}; was the file replaced?")


def last_line_end(path: Input, start: int, size: int) -> int:
    """The end of the last terminated line in ``[start, size)``; `start` if there is none.

    A ``\\r`` as the very last byte does not count yet: the next byte may be its ``\\n``.
    """
    with _opened(path, start) as file:
        high = size
        while high > start:
            low = max(start, high - _SEARCH_BYTES)
            file.seek(low)
            block = _read(file, high - low, path, low)
            undecided = high == size and block[-1] == _CR
            last = max(block.rfind(b"\n"), block.rfind(b"\r", 0, len(block) - undecided))
            if last >= 0:
                return low + last + 1
            high = low
    return start


def line_start_at_or_after(path: Input, position: int, end: int) -> int:
    """The first line start at or after `position`; `end` (itself a line start) if there is none before it."""
    if position <= 0:
        return 0
    for ends in _ends(path, position - 1, end, _SEARCH_BYTES):
        if len(ends):
            return int(ends[0])
    return end


def position_after_lines(path: Input, start: int, end: int, count: int) -> tuple[int, int]:
    """The position after `count` lines from the line start `start`, and the number of lines before it.

    It is `end`, and fewer lines, if there are not that many.
    """
    lines = 0
    for ends in _ends(path, start, end, BATCH_BYTES) if count > 0 else ():
        if lines + len(ends) >= count:
            return int(ends[count - lines - 1]), count
        lines += len(ends)
    return (end if count > 0 else start), lines


def _ends(path: Input, start: int, end: int, block_bytes: int) -> Iterator[Positions]:
    """Positions after the terminators in ``[start, end)``, block by block."""
    with _opened(path, start) as file:
        held, at = b"", start
        while at + len(held) < end:
            size = min(block_bytes, end - at - len(held))
            block = held + _read(file, size, path, at + len(held))
            final = at + len(block) == end
            yield _line_ends(block, final=final) + at
            held = block[-1:] if block[-1] == _CR and not final else b""
            at += len(block) - len(held)


def _line_ends(chunk: bytes, *, final: bool) -> Positions:
    """Positions after the terminators in a chunk; a ``\\r`` at its edge only counts if nothing follows (`final`)."""
    data = np.frombuffer(chunk, np.uint8)
    stops = data == _LF
    if _CR in chunk:
        returns = data == _CR
        returns[:-1] &= ~stops[1:]
        returns[-1] &= final
        stops |= returns
    return np.flatnonzero(stops) + 1


def _content_ends(chunk: bytes, ends: Positions) -> Positions:
    """Positions of the terminators' first bytes."""
    if _CR not in chunk:
        return ends - 1
    data = np.frombuffer(chunk, np.uint8)
    pairs: npt.NDArray[np.bool_] = (data[ends - 1] == _LF) & (data[np.maximum(ends - 2, 0)] == _CR)
    stops: Positions = ends - 1 - pairs
    return stops


def _batch(chunk: bytes, ends: Positions, stops: Positions, at: int) -> pa.RecordBatch:
    """Texts and terminators become the elements of one array over the chunk's own memory; every second one is taken."""
    edges = np.zeros(2 * len(ends) + 1, np.int32)
    edges[1::2] = stops
    edges[2::2] = ends
    pieces = pa.StringArray.from_buffers(2 * len(ends), pa.py_buffer(edges), pa.py_buffer(chunk))
    values = pieces.take(pa.array(np.arange(0, 2 * len(ends), 2)))
    return pa.record_batch([pa.array(ends + at), values], schema=LINES)


def _check_lengths(chunk: bytes, ends: Positions, stops: Positions, path: Input, at: int, limit: int) -> None:
    """Check the lines of a chunk, including the one that does not end in it."""
    starts = np.concatenate(([0], ends))
    last = len(chunk) - chunk.endswith(b"\r")
    too_long = np.flatnonzero(np.append(stops, last) - starts > limit)
    if len(too_long):
        raise DataError(
            f"{path}@{at + starts[too_long[0]]}: the line is longer than {limit} bytes (`max.line.bytes`): "
            "raise the limit or correct the file"
        )


def _check_utf8(text: memoryview, path: Input, at: int) -> None:
    """Check all lines of a chunk at once: their terminators are ASCII, so no character can span two of them."""
    try:
        pa.Array.from_buffers(
            pa.string(), 1, [None, pa.py_buffer(np.array([0, len(text)], np.int32)), pa.py_buffer(text)]
        ).validate(full=True)
    except pa.ArrowInvalid:
        raise _not_utf8(bytes(text), path, at) from None


def _not_utf8(text: bytes, path: Input, at: int) -> DataError:
    try:
        text.decode("utf-8")
        bad = 0
    except UnicodeDecodeError as error:
        bad = error.start
    line = at + max(text.rfind(b"\n", 0, bad), text.rfind(b"\r", 0, bad)) + 1
    return DataError(
        f"{path}@{line}: the line is not valid UTF-8 (byte 0x{text[bad]:02x} at position {at + bad}): "
        "convert the file to UTF-8"
    )


def _opened(path: Input, position: int) -> FileIO:
    file = opened(path)
    file.seek(position)
    return file


def _read(file: FileIO, size: int, path: Input, at: int) -> bytes:
    """Exactly `size` bytes."""
    block = b""
    while len(block) < size:
        try:
            more = file.read(size - len(block))
        except OSError as error:
            raise unreadable(path, error) from error
        if not more:
            raise DataError(f"{path} ends at {at + len(block)} before {at + size}: truncated while it was read")
        block = block + more if block else more
    return block
