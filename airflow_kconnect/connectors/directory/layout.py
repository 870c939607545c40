"""Where the directory sink puts a record, and which files it owns (the layout of Confluent's S3 and HDFS sinks)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.directory.encoders.formats import EXTENSION
from airflow_kconnect.places.base import Place, PlacedFile, StagedFile

_NAME = rf"\+(?P<offset>\d{{10,}})\.(?:{EXTENSION})"


@dataclass(frozen=True)
class VisibleFile:
    """A finished file of the sink as it was seen.

    :param offset: of its first record.
    """

    offset: int
    file: PlacedFile

    @property
    def name(self) -> str:
        """Below the place."""
        return self.file.name


@dataclass(frozen=True)
class FolderLayout:
    """``<place>/<topic>/partition=<n>/<topic>+<n>+<offset of the first record>.<extension>``."""

    place: Place
    extension: str

    def folder(self, partition: TopicPartition) -> str:
        """The folder of a partition, below the place."""
        return f"{partition.topic}/partition={partition.partition}"

    def file(self, partition: TopicPartition, offset: int) -> str:
        """The name of the file that starts with this offset."""
        return f"{self._begin(partition)}+{offset:010d}.{self.extension}"

    def visible(self, partition: TopicPartition, first: int = 0) -> list[VisibleFile]:
        """The sink's files for a partition, in any format, that begin at or after an offset; in order."""
        offsets: dict[str, int] = {}

        def wanted(name: str) -> bool:
            if (offset := self._offset(partition, name)) is not None and offset >= first:
                offsets[name] = offset
            return name in offsets

        # Numbers of ten digits are in the order of their texts; longer ones do not begin with a zero.
        begin = f"{self._begin(partition)}+"
        after = begin + min(f"{first:010d}", "1")
        files = self.place.files(begin, after=after, hidden=True, wanted=wanted)
        named = [VisibleFile(offsets[file.name], file) for file in files]
        return sorted(named, key=lambda each: (each.offset, each.name))

    def staged(self, partition: TopicPartition) -> Iterator[StagedFile]:
        """The sink's unfinished files for a partition."""
        for staged in self.place.staged(f"{self._begin(partition)}+"):
            if self._offset(partition, staged.name) is not None:
                yield staged

    def _begin(self, partition: TopicPartition) -> str:
        return f"{self.folder(partition)}/{partition.topic}+{partition.partition}"

    def _offset(self, partition: TopicPartition, name: str) -> int | None:
        match = re.fullmatch(f"{re.escape(self._begin(partition))}{_NAME}", name, re.ASCII)
        return int(match["offset"]) if match else None
