"""Where files end."""

from __future__ import annotations

import numpy as np
import pytest

from airflow_kconnect.connectors.cloud_storage.rules.rotation import Bounds, Filling


def lengths(bounds: Bounds, moments: list[int] | None, count: int) -> list[int]:
    """Records of the files of consecutive records."""
    times = None if moments is None else np.array(moments, np.int64)
    files, filling, start = [], Filling(), 0
    while start < count:
        until = bounds.taken(filling, times, start, count)
        if filling.base_ms is None and times is not None:
            filling.base_ms = int(times[start])
        filling.records += until - start
        start = until
        if start < count or bounds.is_full(filling):
            files.append(filling.records)
            filling = Filling()
    return files + ([filling.records] if filling.records else [])


@pytest.mark.parametrize(
    ("flush_size", "interval_ms", "moments", "files"),
    [
        (3, None, None, [3, 3, 1]),
        (7, None, None, [7]),
        (100, 10, [0, 5, 9, 10, 15, 19, 20], [3, 3, 1]),
        (100, 10, [0, 100, 101, 5, 110, 3, 111], [1, 3, 3]),  # late ones end no file
        (100, 10, [50, 1, 2, 59, 60, 1, 69], [4, 3]),
        (2, 10, [0, 1, 2, 12, 13, 14, 30], [2, 1, 2, 1, 1]),
        (100, 10, [5, 5, 5, 5, 5, 5, 5], [7]),
        (1, 10, [0, 1, 2, 3, 4, 5, 6], [1] * 7),
    ],
)
def test_records_of_files(
    flush_size: int, interval_ms: int | None, moments: list[int] | None, files: list[int]
) -> None:
    assert lengths(Bounds(flush_size, interval_ms), moments, 7) == files


def test_a_file_continues_with_the_next_records() -> None:
    filling = Filling(records=2, base_ms=100)
    assert Bounds(5, 10).taken(filling, np.array([101, 109, 110], np.int64), 0, 3) == 2


def test_an_end_is_found_among_many_records() -> None:
    times = np.arange(100_000, dtype=np.int64)
    assert Bounds(1_000_000, 77_777).taken(Filling(), times, 0, len(times)) == 77_777
