"""A class-data archive for hosted JVMs: Connect's classes are loaded and verified once, not at each start.

The first run on a machine that gets to its end writes it, which takes that run some seconds: no other moment has loaded
these classes. Runs that find it start in half the time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from airflow_kconnect.machine.cache import cache_folder
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.machine.java import Java

# A JVM that cannot use the archive silently runs without it.
_SILENT = ("-Xshare:auto", "-Xlog:disable", "-Xlog:all=off")


class ClassArchive:
    """The archive for one Java and one class path.

    :param java: the launcher.
    :param class_path: jars, in their order. Java also uses an archive where others follow them.
    :param is_written: whether one is written if there is none.
    """

    def __init__(self, java: Java, class_path: Sequence[Path], *, is_written: bool = True) -> None:
        self._file, self._is_written = _file(java, class_path), is_written
        self._part: Path | None = None

    def options(self) -> list[str]:
        """Java options that use the archive, or that have it written when the JVM ends by itself."""
        if self._file is None:
            return []
        if self._file.is_file():
            return [*_SILENT, f"-XX:SharedArchiveFile={self._file}"]
        if not self._is_written:
            return []
        self._part = self._file.with_name(f"{self._file.name}.{os.getpid()}-{secrets.token_hex(4)}")
        return [*_SILENT, f"-XX:ArchiveClassesAtExit={self._part}"]

    @property
    def is_wanted(self) -> bool:
        """Whether the JVM writes the archive when it ends by itself."""
        return self._part is not None and self._file is not None and not self._file.is_file()

    def keep(self) -> None:
        """Use what the JVM has written from now on: it has ended by itself."""
        if self._part is not None and self._file is not None and self._part.is_file():
            with contextlib.suppress(OSError):
                self._part.rename(self._file)
        self.discard()

    def discard(self) -> None:
        """Remove what a JVM that was killed may have begun."""
        if self._part is not None:
            with contextlib.suppress(OSError):
                self._part.unlink(missing_ok=True)
            self._part = None


def _file(java: Java, class_path: Sequence[Path]) -> Path | None:
    """Its place in the cache; None if there is no cache that can be written."""
    try:
        program = java.path.resolve()
        jars = " ".join(f"{jar} {jar.stat().st_mtime_ns}" for jar in class_path)
        what = f"{program} {program.stat().st_mtime_ns} {jars}"
        folder = cache_folder() / "classes"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, SetupError):
        return None
    if not os.access(folder, os.W_OK):
        return None
    return folder / f"connect-java{java.version}-{hashlib.sha256(what.encode()).hexdigest()[:12]}.jsa"
