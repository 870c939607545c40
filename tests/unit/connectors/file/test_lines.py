"""Lines of byte ranges, against a reference that looks at one byte at a time."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.connectors.file import lines
from airflow_kconnect.connectors.file.lines import (
    last_line_end,
    line_start_at_or_after,
    position_after_lines,
    read_lines,
)

Line = tuple[int, str]


def reference(data: bytes) -> list[Line]:
    """(position after, text) of each terminated line, as FileStreamSourceTask.extractLine finds them."""
    found, start, at = [], 0, 0
    while at < len(data):
        if data[at : at + 1] == b"\r" and at + 1 == len(data):
            break
        size = 2 if data[at : at + 2] == b"\r\n" else 1
        if data[at : at + 1] in (b"\r", b"\n"):
            found.append((at + size, data[start:at].decode()))
            start = at + size
        at += size
    return found


def rows(batches: list[pa.RecordBatch]) -> list[Line]:
    return [(row["progress"], row["value"]) for batch in batches for row in batch.to_pylist()]


def write(folder: Path, data: bytes) -> Path:
    path = folder / "in.txt"
    path.write_bytes(data)
    return path


def read(path: Path, start: int, end: int, **limits: int) -> list[Line]:
    return rows(list(read_lines(path, start, end, **limits)))


TABLE = [
    pytest.param(b"", [], id="empty file"),
    pytest.param(b"a", [], id="no terminator"),
    pytest.param(b"a\n", [(2, "a")], id="line feed"),
    pytest.param(b"a\nb", [(2, "a")], id="the last line is not terminated"),
    pytest.param(b"\n\n", [(1, ""), (2, "")], id="empty lines"),
    pytest.param(b"a\r\nb\r\n", [(3, "a"), (6, "b")], id="carriage return and line feed"),
    pytest.param(b"a\rb\rc", [(2, "a"), (4, "b")], id="lone carriage returns"),
    pytest.param(b"a\r", [], id="a carriage return at the very end waits"),
    pytest.param(b"a\r\r", [(2, "a")], id="only the last carriage return waits"),
    pytest.param(b"a\n\r\nb\r\n\n", [(2, "a"), (4, ""), (7, "b"), (8, "")], id="all terminators mixed"),
    pytest.param("ä€😀\nß\n".encode(), [(10, "ä€😀"), (13, "ß")], id="positions are bytes"),
    pytest.param(b"a\0b\x0b\x0c\xc2\x85\xe2\x80\xa8\n", [(11, "a\0b\v\f\x85\u2028")], id="nothing else ends a line"),
]


@pytest.mark.parametrize("batch_bytes", [1, 2, 3, 1024])
@pytest.mark.parametrize(("data", "expected"), TABLE)
def test_lines_of_a_whole_file(tmp_path: Path, data: bytes, expected: list[Line], batch_bytes: int) -> None:
    path = write(tmp_path, data)
    end = last_line_end(path, 0, len(data))
    assert end == (expected[-1][0] if expected else 0)
    assert read(path, 0, end, batch_bytes=batch_bytes) == expected


DATA = st.lists(st.sampled_from(["\n", "\r", "\r\n", "a", "ä", "€", "😀", "xyz"]), max_size=40).map(
    lambda pieces: "".join(pieces).encode()
)
property_test = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@property_test
@given(data=DATA, batch_bytes=st.integers(1, 9), from_line=st.integers(0, 5))
def test_any_file_in_batches_of_any_size(tmp_path: Path, data: bytes, batch_bytes: int, from_line: int) -> None:
    path, expected = write(tmp_path, data), reference(data)
    end = last_line_end(path, 0, len(data))
    assert end == (expected[-1][0] if expected else 0)
    start = ([0] + [position for position, _ in expected])[min(from_line, len(expected))]
    assert read(path, start, end, batch_bytes=batch_bytes) == expected[from_line:]


@property_test
@given(data=DATA, block_bytes=st.integers(2, 9), at=st.integers(0, 60))
def test_searches_in_blocks_of_any_size(tmp_path: Path, data: bytes, block_bytes: int, at: int) -> None:
    path = write(tmp_path, data)
    ends = [position for position, _ in reference(data)]
    end = ends[-1] if ends else 0
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lines, "_SEARCH_BYTES", block_bytes)
        patched.setattr(lines, "BATCH_BYTES", block_bytes)
        assert last_line_end(path, 0, len(data)) == end
        starts = [0, *ends]
        position = min(at, end)
        assert line_start_at_or_after(path, position, end) == min(p for p in starts if p >= position)
        assert position_after_lines(path, 0, end, at) == (starts[min(at, len(ends))], min(at, len(ends)))


class TestReadLines:
    def test_batches_have_the_documented_schema(self, tmp_path: Path) -> None:
        batch = next(read_lines(write(tmp_path, b"a\nb\n"), 0, 4))
        assert batch.schema == lines.LINES
        batch.validate(full=True)

    def test_batches_are_about_as_large_as_asked(self, tmp_path: Path) -> None:
        path = write(tmp_path, b"12345678\n" * 1000)
        sizes = [batch.num_rows for batch in read_lines(path, 0, 9000, batch_bytes=900)]
        assert max(sizes) <= 101
        assert sum(sizes) == 1000

    def test_a_line_longer_than_a_batch_is_whole(self, tmp_path: Path) -> None:
        text = "ä" * 1000
        assert read(write(tmp_path, f"{text}\n".encode()), 0, 2001, batch_bytes=7) == [(2001, text)]

    @pytest.mark.parametrize("batch_bytes", [4, 1024])
    def test_invalid_utf8_is_refused_with_its_place(self, tmp_path: Path, batch_bytes: int) -> None:
        path = write(tmp_path, b"good\nb\xffd\n")
        with pytest.raises(DataError, match=r"in\.txt@5: the line is not valid UTF-8 \(byte 0xff at position 6\)"):
            read(path, 0, 9, batch_bytes=batch_bytes)

    def test_a_character_cut_by_a_line_end_is_refused(self, tmp_path: Path) -> None:
        path = write(tmp_path, b"\xe2\x82\n\xac\n")
        with pytest.raises(DataError, match=r"@0: the line is not valid UTF-8 \(byte 0xe2 at position 0\)"):
            read(path, 0, 5)

    @pytest.mark.parametrize("batch_bytes", [3, 1024])
    @pytest.mark.parametrize("terminator", [b"\n", b"\r\n", b"\r"])
    def test_the_longest_line_is_accepted_and_one_byte_more_is_not(
        self, tmp_path: Path, terminator: bytes, batch_bytes: int
    ) -> None:
        good = b"1234567890" + terminator
        path = write(tmp_path, good + b"1" + good)
        assert read(path, 0, len(good), batch_bytes=batch_bytes, max_line_bytes=10) == [(len(good), "1234567890")]
        expected = rf"@{len(good)}: the line is longer than 10 bytes \(`max\.line\.bytes`\)"
        with pytest.raises(DataError, match=expected):
            read(path, 0, 2 * len(good) + 1, batch_bytes=batch_bytes, max_line_bytes=10)

    def test_an_endless_line_is_refused_without_reading_it_all(self, tmp_path: Path) -> None:
        path = tmp_path / "sparse"
        with path.open("wb") as file:
            file.truncate(1 << 40)
        with pytest.raises(DataError, match="longer than 100 bytes"):
            read(path, 0, 1 << 40, batch_bytes=64, max_line_bytes=100)

    def test_a_file_that_shrinks_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"ends at 2 before 10: truncated"):
            read(write(tmp_path, b"a\n"), 0, 10)

    def test_an_end_that_is_not_a_line_end_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"@2: no line ends before position 3"):
            read(write(tmp_path, b"a\nbc\n"), 0, 3)


def test_a_disk_that_fails_while_it_is_read_is_tried_again() -> None:
    """Where a process has no memory, Linux answers EIO, as a broken disk does."""
    with pytest.raises(RetriableError, match="/proc/self/mem cannot be read: Input/output error"):
        list(read_lines("/proc/self/mem", 0, 10))
