"""One file as it was planned, and its bytes: of a part of it, decompressed, in UTF-8."""

from __future__ import annotations

import codecs
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.record_files.config import NONE, FileSettings
from airflow_kconnect.places.address import LOCAL
from airflow_kconnect.places.base import Place, PlacedFile

if TYPE_CHECKING:
    import pyarrow as pa

UTF_8 = "utf-8"
_ONE_BYTE_LINE_ENDS = frozenset({UTF_8, "ascii", "iso8859-1", "iso8859-15", "cp1252"})


class UnreadableFile(DataError):
    """A file is not what its name says, or damaged: another file may be read."""


@dataclass(frozen=True)
class Source:
    """A file of a place, and how it is read; pickled."""

    place: Place
    file: PlacedFile
    settings: FileSettings

    @property
    def name(self) -> str:
        """For messages."""
        return self.place.uri(self.file.name)

    @property
    def format(self) -> str:
        """:raises UnreadableFile: its name does not say it."""
        format_ = self.settings.format_of(self.file.name)
        if format_ is None:
            raise self.unreadable("has a name that does not say what it is: set `format`, or `input.file.pattern`")
        return format_

    @property
    def can_be_cut(self) -> bool:
        """Whether a line end is one wherever its byte is."""
        plain = self.settings.compression_of(self.file.name) == NONE
        return plain and codecs.lookup(self.settings.charset).name in _ONE_BYTE_LINE_ENDS

    def unreadable(self, why: object) -> UnreadableFile:
        """The error of this file. :param why: what follows its name, or an error of Arrow."""
        text = (
            why
            if isinstance(why, str)
            else f"cannot be read as {self.settings.format_of(self.file.name)}: {_line(why)}"
        )
        return UnreadableFile(f"file {self.name} {text}")

    def open(self) -> BinaryIO:
        """The file, which can seek.

        :raises DataError: it is not the one that was planned any more.
        """
        return self.place.read(self.file)

    def check_unchanged(self) -> None:
        """Called when rows were read: the bytes of a file of this machine may have been replaced since it was opened.
        Stores say so themselves.

        :raises DataError: they have been.
        """
        if self.place.at.scheme == LOCAL and self.place.find(self.file.name) != self.file:
            raise DataError(
                f"file {self.name} was changed or replaced while it was read: run again when it is complete"
            )

    def stream(self, begin: int = 0, end: int | None = None) -> pa.NativeFile:
        """The bytes of a text file, decompressed. :param begin, end: the part of it; of one that can be cut."""
        import pyarrow as pa

        part = _Part(self.open(), begin, self.file.size if end is None else end)
        stream = pa.PythonFile(part, mode="r")
        compression = self.settings.compression_of(self.file.name)
        return stream if compression == NONE else pa.CompressedInputStream(stream, compression)

    def text(self, begin: int = 0, end: int | None = None) -> pa.NativeFile:
        """As `stream`, in UTF-8."""
        import pyarrow as pa

        stream = self.stream(begin, end)
        charset = self.settings.charset
        return stream if codecs.lookup(charset).name == UTF_8 else pa.transcoding_input_stream(stream, charset, UTF_8)

    def line_starts(self, begin: int) -> list[int]:
        """Where parts of about `split_bytes` begin, from `begin` on, and the end."""
        size, step = self.file.size, self.settings.split_bytes
        starts = [begin]
        with self.open() as file:
            while self.can_be_cut and size - starts[-1] >= 2 * step:
                start = _after_line(file, starts[-1] + step, size)
                if start >= size:
                    break
                starts.append(start)
        return [*starts, size]


class _Part(io.RawIOBase):
    """Bytes of a file from one to another, forwards."""

    def __init__(self, file: BinaryIO, begin: int, end: int) -> None:
        self._file, self._left = file, end - begin
        file.seek(begin)

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = self._left if size is None or size < 0 else min(size, self._left)
        data = self._file.read(wanted)
        self._left -= len(data)
        return data

    def close(self) -> None:
        self._file.close()
        super().close()


def _after_line(file: BinaryIO, position: int, size: int) -> int:
    file.seek(position - 1)
    while position <= size:
        block = file.read(64 * 1024)
        if not block:
            return size
        if (found := block.find(b"\n")) >= 0:
            return position + found
        position += len(block)
    return size


def _line(error: object) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def detail_of(file: PlacedFile) -> dict[str, Any]:
    """A file in the detail of a split."""
    return {"size": file.size, "changed_ms": file.changed_ms, "version": file.version}


def file_of(name: str, detail: Mapping[str, Any]) -> PlacedFile:
    """Of `detail_of`."""
    return PlacedFile(name, detail["size"], detail["changed_ms"], detail["version"])
