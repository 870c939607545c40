"""The small file by which a polling task learns what was committed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from airflow_kconnect.runtime.acknowledgements import AckReader, AckWriter


@pytest.fixture
def writer(tmp_path: Path) -> AckWriter:
    return AckWriter(str(tmp_path), 2, 77, patience_s=0.0)


@pytest.fixture
def reader(tmp_path: Path) -> AckReader:
    return AckReader(str(tmp_path), 2, 77)


def test_before_the_first_commit_nothing_is_committed(reader: AckReader) -> None:
    assert reader.read() == (0, False)


def test_a_commit_is_seen(writer: AckWriter, reader: AckReader) -> None:
    writer.committed(10)
    assert reader.read() == (10, False)


def test_the_last_commit_counts(writer: AckWriter, reader: AckReader) -> None:
    writer.committed(10)
    writer.committed(25)
    assert reader.read() == (25, False)


def test_the_end_keeps_the_number(writer: AckWriter, reader: AckReader) -> None:
    writer.committed(10)
    writer.finished()
    assert reader.read() == (10, True)


def test_the_end_without_a_commit(writer: AckWriter, reader: AckReader) -> None:
    writer.finished()
    assert reader.read() == (0, True)


@pytest.mark.parametrize(("split", "attempt"), [(3, 77), (2, 78)], ids=["another split", "another attempt"])
def test_others_do_not_see_it(writer: AckWriter, tmp_path: Path, split: int, attempt: int) -> None:
    writer.committed(10)
    assert AckReader(str(tmp_path), split, attempt).read() == (0, False)


def test_the_end_does_not_wait_for_a_task_that_is_stopped(tmp_path: Path, reader: AckReader) -> None:
    reader.stopped()
    started = time.monotonic()
    AckWriter(str(tmp_path), 2, 77, patience_s=30).finished()
    assert time.monotonic() - started < 5


def test_the_end_does_not_wait_for_ever(tmp_path: Path) -> None:
    started = time.monotonic()
    AckWriter(str(tmp_path), 2, 77, patience_s=0.1).finished()
    assert 0.1 <= time.monotonic() - started < 5


def test_a_reader_never_sees_half_a_file(writer: AckWriter, tmp_path: Path) -> None:
    writer.committed(10)
    assert [path.name for path in tmp_path.iterdir()] == ["ack-2-77"]
