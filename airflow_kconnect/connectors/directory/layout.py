"""Where the directory sink puts a record, and which files it owns (the layout of Confluent's S3 and HDFS sinks)."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.file.output import HIDDEN_SUFFIX

_NAME = r"\+(?P<offset>\d{10,})\.(?:json|json\.gz|parquet)"


Identity = tuple[int, int]


@dataclass(frozen=True)
class VisibleFile:
    """A finished file as it was seen.

    :param offset: of its first record.
    :param identity: inode and time of change: another file with this name has different ones.
    """

    offset: int
    path: Path
    identity: Identity

    def is_still_there(self) -> bool:
        """Whether the name still refers to that file."""
        return _identity(self.path) == self.identity


@dataclass(frozen=True)
class FolderLayout:
    """``<directory>/<topic>/partition=<n>/<topic>+<n>+<offset of the first record>.<extension>``.

    :param directory: absolute.
    """

    directory: str
    extension: str

    def folder(self, partition: TopicPartition) -> Path:
        """The folder of a partition."""
        return Path(self.directory, partition.topic, f"partition={partition.partition}")

    def file(self, partition: TopicPartition, offset: int) -> Path:
        """The file that starts with this offset."""
        name = f"{partition.topic}+{partition.partition}+{offset:010d}.{self.extension}"
        return self.folder(partition) / name

    def visible(self, partition: TopicPartition, first: int = 0) -> list[VisibleFile]:
        """The sink's files for a partition, in any format, that begin at or after an offset; in order."""
        named = [
            (offset, path)
            for path, match in self._matching(partition, rf"{_stem(partition)}{_NAME}")
            if (offset := int(match["offset"])) >= first
        ]
        identified = ((offset, path, _identity(path)) for offset, path in sorted(named))
        return [VisibleFile(offset, path, identity) for offset, path, identity in identified if identity]

    def temporary(self, partition: TopicPartition) -> Iterator[Path]:
        """The sink's unfinished files for a partition."""
        for path, _ in self._matching(partition, rf"\.{_stem(partition)}{_NAME}{HIDDEN_SUFFIX}"):
            if path.is_file():
                yield path

    def _matching(self, partition: TopicPartition, pattern: str) -> Iterator[tuple[Path, re.Match[str]]]:
        folder = self.folder(partition)
        for path in folder.iterdir() if folder.is_dir() else ():
            if match := re.fullmatch(pattern, path.name, re.ASCII):
                yield path, match


def _stem(partition: TopicPartition) -> str:
    return rf"{re.escape(partition.topic)}\+{partition.partition}"


def _identity(path: Path) -> Identity | None:
    """None: there is no regular file with this name."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return (status.st_ino, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None
