"""Reads the list of files in a jar, and single files of it, fast enough for processes that parse DAGs."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_END_OF_DIRECTORY = b"PK\x05\x06"
_ENTRY, _ENTRY_SIZE = b"PK\x01\x02", 46
# End record and the longest comment after it.
_LONGEST_END = 22 + 65535
# A services file or a manifest is a few hundred bytes; a class that is parsed is seldom more than 100 kB.
_LARGEST_READ = 8 * 1024 * 1024


class BrokenJar(Exception):
    """A file is named like a jar, but is none; the text says why."""


@dataclass(frozen=True, eq=False)
class Jar:
    """The directory of one jar, as raw bytes: searching them is far cheaper than a list of all names.

    :param path: the file.
    :param directory: its central directory.
    """

    path: Path
    directory: bytes

    def contains(self, name: str) -> bool:
        """Whether the jar has a file of this name."""
        return any(entry == name for _, entry in self._entries(name))

    def names(self, prefix: str) -> list[str]:
        """Names of files that begin with a prefix, in the order of the jar."""
        return [name for _, name in self._entries(prefix)]

    def ending(self, suffix: str) -> list[str]:
        """Names of files that end so, in the order of the jar."""
        names, at, end = [], 0, suffix.encode()
        while self.directory.startswith(_ENTRY, at):
            name, extra, comment = struct.unpack_from("<HHH", self.directory, at + 28)
            text = self.directory[at + _ENTRY_SIZE : at + _ENTRY_SIZE + name]
            if text.endswith(end):
                names.append(text.decode(errors="replace"))
            at += _ENTRY_SIZE + name + extra + comment
        return names

    def read(self, name: str) -> bytes:
        """Content of one file of the jar.

        :raises BrokenJar: it cannot be read, or is larger than 8 MB.
        """
        try:
            content = self._read(next(header for header, entry in self._entries(name) if entry == name))
        except (OSError, StopIteration, struct.error, zlib.error) as error:
            raise BrokenJar(f"{name} in {self.path} cannot be read: {error or 'it is missing'}") from error
        if len(content) > _LARGEST_READ:
            raise BrokenJar(f"{name} in {self.path} is larger than 8 MB")
        return content

    def _entries(self, prefix: str) -> Iterator[tuple[int, str]]:
        """Position in the directory, and name, of each file whose name begins so."""
        wanted = prefix.encode()
        at = self.directory.find(wanted)
        while at >= 0:
            header = at - _ENTRY_SIZE
            if header >= 0 and self.directory.startswith(_ENTRY, header):
                (length,) = struct.unpack_from("<H", self.directory, header + 28)
                yield header, self.directory[at : at + length].decode(errors="replace")
            at = self.directory.find(wanted, at + 1)

    def _read(self, header: int) -> bytes:
        """Content of the file of this position; `zipfile` would parse the whole directory for it."""
        method, packed = struct.unpack_from("<H8xI", self.directory, header + 10)
        (offset,) = struct.unpack_from("<I", self.directory, header + 42)
        with self.path.open("rb") as file:
            file.seek(offset)
            local = file.read(30)
            name_length, extra_length = struct.unpack_from("<HH", local, 26)
            file.seek(offset + 30 + name_length + extra_length)
            content = file.read(min(packed, _LARGEST_READ + 1))
        return content if method == 0 else zlib.decompressobj(-15).decompress(content, _LARGEST_READ + 1)


_cache: dict[Path, tuple[tuple[int, int], Jar]] = {}


def open_jar(path: Path) -> Jar:
    """The directory of a jar; read again only if the file has changed.

    :raises BrokenJar: the file cannot be read or is not a jar.
    """
    try:
        status = path.stat()
        version = (status.st_mtime_ns, status.st_size)
        known = _cache.get(path)
        if known is not None and known[0] == version:
            return known[1]
        jar = Jar(path, _directory(path, status.st_size))
    except OSError as error:
        raise BrokenJar(f"{path} cannot be read: {error.strerror or error}") from error
    _cache[path] = (version, jar)
    return jar


def _directory(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, size - _LONGEST_END))
        tail = file.read(_LONGEST_END)
        end = tail.rfind(_END_OF_DIRECTORY)
        if end < 0 or len(tail) - end < 22:
            raise BrokenJar(f"{path} {'is empty' if size == 0 else 'is not a jar, or is truncated'}")
        length, offset = struct.unpack_from("<II", tail, end + 12)
        file.seek(offset)
        directory = file.read(length)
    if len(directory) < length or (directory and not directory.startswith(_ENTRY)):
        raise BrokenJar(f"{path} is damaged: its list of files is not where it should be")
    return directory
