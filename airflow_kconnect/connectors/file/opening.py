"""Opens input files: regular files only, and in a drop folder without following symbolic links."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.places.system_errors import system_error

# If a pipe has replaced the file, opening it would otherwise wait for a writer.
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_LINKED = {errno.ELOOP, errno.ENOTDIR}


@dataclass(frozen=True)
class Location:
    """The location of an input file.

    :param root: folder in which it was found; symbolic links below it are not followed. None: links are followed.
    """

    name: str
    root: str | None = None

    def __str__(self) -> str:
        return self.name

    def is_linked(self) -> bool:
        """Whether there is a symbolic link below the root."""
        path = Path(self.root or "")
        return self.root is not None and any((path := path / part).is_symlink() for part in self._parts())

    def _parts(self) -> list[str]:
        parts = Path(os.path.relpath(self.name, self.root)).parts
        # A plan made with a different `files` may name a file elsewhere.
        return list(parts) if parts[0] != os.pardir else [str(Path(self.name).absolute())]

    def open(self) -> FileIO:
        """Open it for reading.

        :raises RetriableError: the disk is unavailable.
        :raises DataError: it is missing, not a regular file, not readable, or a symbolic link below the root.
        """
        try:
            handle = os.open(self.name, _FLAGS) if self.root is None else self._walk(self.root)
        except OSError as error:
            if self.root is not None and error.errno in _LINKED:
                raise DataError(f"file {self.name} is a symbolic link, or in one: see `files.follow.links`") from error
            raise unreadable(self.name, error) from error
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise DataError(f"file {self.name} is not a regular file (a pipe or a device cannot be resumed)")
        return FileIO(handle)

    def _walk(self, root: str) -> int:
        """Folder by folder: what is replaced by a link meanwhile is not followed either."""
        *folders, last = self._parts()
        at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for folder in folders:
                inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
                os.close(at)
                at = inner
            return os.open(last, _FLAGS | os.O_NOFOLLOW, dir_fd=at)
        finally:
            os.close(at)


Input = str | Path | Location


def opened(path: Input) -> FileIO:
    """See `Location.open`; for a bare path, links are followed."""
    return (path if isinstance(path, Location) else Location(str(path))).open()


def unreadable(path: Input, error: OSError) -> Exception:
    """The run's error for an error while a file is opened or read."""
    return system_error(f"file {path} cannot be read", error)
