"""Where the directory sink puts a record, and which files are its own (the layout of Confluent's S3 and HDFS sinks)."""

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
    """A finished file as it was found.

    :param offset: of its first record.
    :param identity: inode and time of change: another file of this name has others.
    """

    offset: int
    path: Path
    identity: Identity

    def is_still_there(self) -> bool:
        """Whether the name stands for the file that was found."""
        return _identity(self.path) == self.identity


@dataclass(frozen=True)
class Layout:
    """``<directory>/<topic>/partition=<n>/<topic>+<n>+<offset of the first record>.<extension>``.

    :param directory: absolute.
    """

    directory: str
    extension: str

    def folder(self, partition: TopicPartition) -> Path:
        """The folder of a partition."""
        return Path(self.directory, partition.topic, f"partition={partition.partition}")

    def file(self, partition: TopicPartition, offset: int) -> Path:
        """The file whose first record has an offset."""
        name = f"{partition.topic}+{partition.partition}+{offset:010d}.{self.extension}"
        return self.folder(partition) / name

    def visible(self, partition: TopicPartition, first: int = 0) -> list[VisibleFile]:
        """The sink's files of a partition, of any format, that begin at an offset or after it; in order."""
        named = [
            (offset, path)
            for path, match in self._matching(partition, rf"{_stem(partition)}{_NAME}")
            if (offset := int(match["offset"])) >= first
        ]
        found = ((offset, path, _identity(path)) for offset, path in sorted(named))
        return [VisibleFile(offset, path, identity) for offset, path, identity in found if identity]

    def temporary(self, partition: TopicPartition) -> Iterator[Path]:
        """The sink's files of a partition that were not finished."""
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
    """None: there is no regular file of this name."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return (found.st_ino, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None
