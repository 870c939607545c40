"""Where files end: after `flush.size` records, or `rotate.interval.ms` after their first one. Pure rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_LOOK = 1024


@dataclass
class Filling:
    """How full a file is.

    :param base_ms: the moment of its first record.
    """

    records: int = 0
    base_ms: int | None = None


@dataclass(frozen=True)
class Bounds:
    """:param interval_ms: None: records' moments end no file."""

    flush_size: int
    interval_ms: int | None = None

    def taken(self, filling: Filling, times_ms: np.ndarray | None, start: int, end: int) -> int:
        """Until which of the next records a file takes them: an index from `start` to `end`.

        It is `start` if the first of them begins a new file. Late records end no file: they are older than its first.

        :param times_ms: of all records; None where moments do not count.
        """
        until = min(end, start + self.flush_size - filling.records)
        if self.interval_ms is None or times_ms is None:
            return until
        base = int(times_ms[start]) if filling.base_ms is None else filling.base_ms
        return _first_from(times_ms, base + self.interval_ms, start, until)

    def is_full(self, filling: Filling) -> bool:
        """Whether it takes no more, whatever comes."""
        return filling.records >= self.flush_size


def _first_from(times_ms: np.ndarray, least: int, start: int, end: int) -> int:
    """The first index from `start` on with a moment of at least this one; `end` if there is none."""
    length = _LOOK
    while start < end:
        found = times_ms[start : min(start + length, end)] >= least
        if found.any():
            return start + int(found.argmax())
        start += length
        length *= 2
    return end
