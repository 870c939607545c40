"""A folder: files are written under hidden names next to their places, and renamed."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.places.base import Place, PlacedFile, StagedFile, Staging
from airflow_kconnect.places.folder_tree import FolderTree
from airflow_kconnect.places.folders import hidden_name, named_errors, sync_folder
from airflow_kconnect.places.system_errors import system_error

_NO_LINKS = {errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}
"""A file system without hard links, or another one."""

_NAME_BYTES, _CUT = 255, 40
"""What a name may have in most file systems, and how many characters of a longer one are kept."""


class LocalPlace(FolderTree[os.DirEntry[str]]):
    """A folder that the driver and all executors see under the same path."""

    def check(self) -> None:
        folder = Path(self.at.path)
        try:
            there = next(path for path in (folder, *folder.parents) if path.exists())
        except OSError as error:  # a folder above it may not be entered
            raise ConfigError({"directory": [f"cannot create the folder {folder}: {error.strerror}"]}) from error
        if not there.is_dir():
            raise ConfigError({"directory": [f"cannot create the folder {folder}: {there} is a file"]})
        if not os.access(there, os.W_OK | os.X_OK):
            raise ConfigError({"directory": [f"the user of this job may not write to {there}"]})

    def find(self, name: str) -> PlacedFile | None:
        return self._seen(name, self._path(name))

    def read(self, file: PlacedFile) -> BinaryIO:
        path = self._path(file.name)
        with named_errors(path, "read"):
            try:
                opened = path.open("rb")
            except FileNotFoundError as error:
                raise DataError(f"{path} was removed after it was found: run again") from error
        if not _is_of(os.fstat(opened.fileno()), file):
            opened.close()
            raise DataError(f"{path} was replaced or changed after it was found: run again")
        return opened

    def stage(self, name: str, part_bytes: int = 0) -> Staging:
        hidden = hidden_name(name)
        with named_errors(path := self._path(hidden)):
            path.parent.mkdir(parents=True, exist_ok=True)
            return _LocalStaging(name, hidden, path, path.open("xb"))

    def publish(self, staged: StagedFile) -> None:
        hidden, final = self._hidden(staged), self._path(staged.name)
        with named_errors(final):
            try:
                hidden.replace(final)
            except FileNotFoundError as error:
                if self._is_published(final, staged):
                    return
                raise self._fenced(staged.facts["hidden"]) from error

    def publish_all(self, staged: Sequence[StagedFile]) -> None:
        for file in staged:  # a rename waits for nothing
            self.publish(file)

    def discard(self, staged: StagedFile) -> None:
        with named_errors(hidden := self._hidden(staged), "remove"):
            hidden.unlink(missing_ok=True)

    def copy(self, source: Place, file: PlacedFile, name: str) -> bool:
        """A second name for the same file, where the file system can do that."""
        if not isinstance(source, LocalPlace):
            return super().copy(source, file, name)
        old, new = source._path(file.name), self._path(name)
        with named_errors(new):
            new.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(os.path.realpath(old), new)  # a link to it may not be one from there
            except (FileNotFoundError, FileExistsError):
                return False
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                return super().copy(source, file, name)
            if _is_of(new.stat(), file):
                return True
            new.unlink()
        return False

    def remove(self, file: PlacedFile) -> bool:
        """It has a hidden name for a moment: so what replaces it in that moment is not removed in its place."""
        path = self._path(file.name)
        if not self.has(file):
            return False
        is_long = len(os.fsencode(hidden_name(path.name))) > _NAME_BYTES
        hidden = path.with_name(hidden_name(path.name[:_CUT] if is_long else path.name))
        with named_errors(path, "remove"):
            try:
                path.rename(hidden)
            except FileNotFoundError:
                return False
            if _is_of(hidden.stat(), file):
                hidden.unlink()
                return True
            if path.exists():
                raise DataError(f"{path} was replaced twice while it was removed: {hidden} is the file in between")
            hidden.rename(path)
        return False

    def remove_folder(self, name: str) -> None:
        with contextlib.suppress(OSError):
            self._path(name).rmdir()

    def settle(self, names: Iterable[str]) -> None:
        for folder in {self._path(name).parent for name in names}:
            with named_errors(folder):
                sync_folder(folder)

    def _path(self, name: str) -> Path:
        return Path(self.at.path, name)

    def _hidden(self, staged: StagedFile) -> Path:
        return self._path(staged.facts["hidden"])

    def _seen(self, name: str, path: Path) -> PlacedFile | None:
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise system_error(f"cannot look at {path}", error) from error
        if not stat.S_ISREG(status.st_mode):
            return None
        return PlacedFile(name, status.st_size, status.st_mtime_ns // 1_000_000, _version(status))

    def _is_published(self, final: Path, staged: StagedFile) -> bool:
        with contextlib.suppress(OSError):
            return _version(final.stat()) == staged.facts.get("version")
        return False

    def _entries(self, folder: str) -> Iterator[os.DirEntry[str]]:
        gone = contextlib.suppress(FileNotFoundError, NotADirectoryError)
        with named_errors(path := self._path(folder), "list"), gone, os.scandir(path) as found:
            yield from found

    def _placed(self, name: str, entry: os.DirEntry[str]) -> PlacedFile | None:
        return self.find(name)


class _LocalStaging:
    def __init__(self, name: str, hidden: str, path: Path, file: BinaryIO) -> None:
        self._name, self._hidden, self._path, self._file, self._size = name, hidden, path, file, 0

    def write(self, data: Any, /) -> int:
        with named_errors(self._path):
            written = self._file.write(data)
        self._size += written
        return written

    def finish(self) -> StagedFile:
        with named_errors(self._path):
            self._file.flush()
            os.fsync(self._file.fileno())
            version = _version(os.fstat(self._file.fileno()))
            self._file.close()
        return StagedFile(self._name, self._size, {"hidden": self._hidden, "version": version})

    def abort(self) -> None:
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)


def _version(status: os.stat_result) -> str:
    """An inode is used again, and programs like rsync set times; clocks of file systems are coarse."""
    return f"{status.st_ino}-{status.st_mtime_ns}-{status.st_size}"


def _is_of(status: os.stat_result, file: PlacedFile) -> bool:
    """Whether it is that of a file as it was seen."""
    return _version(status) == file.version
