"""Where the directory sink puts a record, and which files are its own (the layout of Confluent's S3 and HDFS sinks)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.file.output import HIDDEN_SUFFIX

_NAME = r"\+(?P<offset>\d{10,})\.(?:json|json\.gz|parquet)"


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

    def visible(self, partition: TopicPartition) -> Iterator[tuple[int, Path]]:
        """The sink's files of a partition, of any format, with the offset of their first record."""
        for path, match in self._matching(partition, rf"{_stem(partition)}{_NAME}"):
            yield int(match["offset"]), path

    def temporary(self, partition: TopicPartition) -> Iterator[Path]:
        """The sink's files of a partition that were not finished."""
        for path, _ in self._matching(partition, rf"\.{_stem(partition)}{_NAME}{HIDDEN_SUFFIX}"):
            yield path

    def _matching(self, partition: TopicPartition, pattern: str) -> Iterator[tuple[Path, re.Match[str]]]:
        folder = self.folder(partition)
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if (match := re.fullmatch(pattern, path.name, re.ASCII)) and path.is_file():
                yield path, match


def _stem(partition: TopicPartition) -> str:
    return rf"{re.escape(partition.topic)}\+{partition.partition}"
