"""Parts that wait on disk: what was written is read, and what is forgotten takes no room."""

from __future__ import annotations

import itertools
import os
import random
import signal
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.places.spill import BLOCK_BYTES, Part, Spill, _spill


def test_what_was_written_is_read_from_anywhere() -> None:
    text = random.Random(1).randbytes(5 * BLOCK_BYTES + 7)
    part, cuts = Part(), [0, 1, 100, BLOCK_BYTES, BLOCK_BYTES + 1, 4 * BLOCK_BYTES, len(text)]
    for start, end in itertools.pairwise(cuts):
        part.write(text[start:end])
    assert part.size == len(text)
    assert part.seek(0, 2) == len(text)
    for start in cuts:
        part.seek(start)
        assert part.readall() == text[start:]


def test_parts_do_not_mix() -> None:
    parts = [Part() for _ in range(50)]
    for _ in range(3):
        for number, part in enumerate(parts):
            part.write(bytes([number]) * BLOCK_BYTES)
    for number, part in enumerate(parts):
        part.seek(0)
        assert set(part.readall()) == {number}


def test_what_is_taken_stays_nowhere_and_more_can_be_written() -> None:
    part = Part()
    for text in (bytes(range(256)) * 1024, b"short", bytes(3 * BLOCK_BYTES)):
        part.write(text)
        assert part.take() == text
        assert (part.size, part.take()) == (0, b"")


def test_blocks_that_are_forgotten_are_used_again_and_at_last_given_back() -> None:
    spill, block = Spill(os.getpid()), memoryview(bytes(BLOCK_BYTES))
    first, second = spill.put(block), spill.put(block)
    spill.free([first])
    assert spill.put(block) == first
    spill.free([first, second])
    assert os.fstat(spill._file.fileno()).st_size == 0


def test_a_process_that_is_forked_off_leaves_the_file_alone() -> None:
    part = Part()
    part.write(bytes(3 * BLOCK_BYTES))
    if (child := os.fork()) == 0:
        part.close()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    part.seek(0)
    assert part.readall() == bytes(3 * BLOCK_BYTES)


def test_a_disk_that_is_full_ends_the_run_for_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_spill(os.getpid()), "_file", Path("/dev/full").open("r+b", buffering=0))  # noqa: SIM115
    with pytest.raises(RetriableError, match=r"cannot keep a file in .* until it is sent: No space left"):
        Part().write(bytes(BLOCK_BYTES))
