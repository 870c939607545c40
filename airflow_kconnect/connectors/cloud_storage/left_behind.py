"""What killed runs have left in a place: staged files, and visible ones beyond the committed offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.cloud_storage.rules.layout import Layout
from airflow_kconnect.places.base import Place, PlacedFile


class LeftBehind:
    """What runs have left that were killed; so is what a Connect cluster has left."""

    def __init__(self, place: Place, layout: Layout) -> None:
        self._place, self._layout = place, layout
        self._unseen: Mapping[TopicPartition, int] = {}
        self._files: dict[TopicPartition, list[tuple[int, PlacedFile]]] = {}

    def discard_staged(self, start: Mapping[TopicPartition, int]) -> None:
        """Called when a run begins, with its offsets: what older runs have staged can no longer become visible."""
        self._unseen = start
        for topic in dict.fromkeys(partition.topic for partition in start):
            for staged in self._place.staged(self._layout.topic(topic)):
                named = self._layout.named(topic, staged.name)
                if named and TopicPartition(topic, named.partition) in start:
                    self._place.discard(staged)

    def look(self) -> None:
        """Remember what is visible from the run's first offsets on. Called before the run commits its first round.

        They are older runs' files if no newer one has begun until afterwards. A run without a round need not list a
        bucket.

        The visible files stay, although their offsets are not committed: their records are correct. They are removed
        when these offsets are written again, and not before: if Kafka no longer has the records, the only copy would be
        lost.
        """
        start, self._unseen = self._unseen, {}
        for topic in dict.fromkeys(partition.topic for partition in start):
            for partition, offset, file in self.visible(topic):
                if partition in start and offset >= start[partition]:
                    self._files.setdefault(partition, []).append((offset, file))

    def visible(self, topic: str) -> Iterator[tuple[TopicPartition, int, PlacedFile]]:
        """A topic's files, with the offset of their first record."""
        for file in self._place.files(self._layout.topic(topic), hidden=True):
            if named := self._layout.named(topic, file.name):
                yield TopicPartition(topic, named.partition), named.offset, file

    def passed(self, split: SinkSplit, end: int) -> list[PlacedFile]:
        """What was seen at the offsets that the run has passed, once."""
        files = self._files.get(split.topic_partition, [])
        self._files[split.topic_partition] = [(offset, file) for offset, file in files if offset >= end]
        return [file for offset, file in files if offset < end]


def start_problems(
    visible: Iterable[tuple[TopicPartition, int, PlacedFile]], starts: Mapping[TopicPartition, int], delim: str = "/"
) -> list[str]:
    """Why runs must not start at offsets that were written already: files that may have records on both sides.

    A folder's files follow each other, so it is the last one that begins before the offset, unless one begins there.

    :param delim: between the names of folders.
    """
    last: dict[tuple[TopicPartition, str], tuple[int, str]] = {}
    lowest: dict[TopicPartition, int] = {}
    for partition, offset, file in visible:
        lowest[partition] = min(offset, lowest.get(partition, offset))
        if partition in starts and offset <= starts[partition]:
            folder = partition, file.name.rpartition(delim)[0]
            last[folder] = max(last.get(folder, (offset, file.name)), (offset, file.name))
    parted: dict[TopicPartition, str] = {}
    for (partition, _), (offset, name) in last.items():
        if offset < starts[partition]:
            parted.setdefault(partition, name)
    return [
        f"{partition}: offset {starts[partition]} may be in the middle of {name}, whose records from there on would be "
        f"stored twice; use {lowest[partition]}, or remove the partition's files from there on first"
        for partition, name in parted.items()
    ]
