"""Names of objects: `topics.dir`, topic, folder of the partitioner, and the file's own name. Pure rules."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from airflow_kconnect.connect.record import TopicPartition


class Part(StrEnum):
    """What of its records a file has; the text comes before the extension."""

    VALUES = ""
    KEYS = ".keys"
    HEADERS = ".headers"


@dataclass(frozen=True)
class Named:
    """What the name of a file says.

    :param offset: of its first record.
    """

    partition: int
    folder: str
    offset: int


@dataclass(frozen=True)
class Layout:
    """``<topics.dir>/<topic>/<folder>/<topic>+<partition>+<offset of the first record>[.keys|.headers]<extension>``."""

    topics_dir: str = "topics"
    directory_delim: str = "/"
    file_delim: str = "+"
    zero_pad: int = 10

    def topic(self, topic: str) -> str:
        """What all names of a topic's files begin with."""
        parts = [part for part in (self.topics_dir, topic) if part]
        return self.directory_delim.join(parts) + self.directory_delim

    def begin(self, partition: TopicPartition, folder: str) -> str:
        """What all names of a partition's files in a folder begin with."""
        own = self.file_delim.join((partition.topic, str(partition.partition), ""))
        return f"{self.topic(partition.topic)}{folder}{self.directory_delim}{own}"

    def file(self, partition: TopicPartition, folder: str, offset: int, part: Part, extension: str) -> str:
        """The name of a file, below the bucket."""
        return f"{self.begin(partition, folder)}{offset:0{self.zero_pad}d}{part}{extension}"

    def named(self, topic: str, name: str) -> Named | None:
        """What a name says; None if it is not one of this topic's files.

        Number of digits and extension may be others: a run that was killed may have had other settings.
        """
        begin = self.topic(topic)
        if not name.startswith(begin):
            return None
        match = self._rest(topic).fullmatch(name, len(begin))
        return Named(int(match["partition"]), match["folder"], int(match["offset"])) if match else None

    def _rest(self, topic: str) -> re.Pattern[str]:
        delim, between = re.escape(self.directory_delim), re.escape(self.file_delim)
        return re.compile(
            rf"(?P<folder>.+){delim}{re.escape(topic)}{between}(?P<partition>[0-9]+){between}"
            r"(?P<offset>[0-9]+)([^0-9/][^/]*)?",
            re.DOTALL,
        )
