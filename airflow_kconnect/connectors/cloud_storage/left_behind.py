"""What killed runs have left in a place: staged files, and visible ones beyond the committed offsets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.cloud_storage.rules.layout import Layout
from airflow_kconnect.places.base import Place, PlacedFile


class LeftBehind:
    """Found when a run begins; so is what a Connect cluster has left that was killed."""

    def __init__(self, place: Place, layout: Layout) -> None:
        self._place, self._layout = place, layout
        self._files: dict[TopicPartition, list[tuple[int, PlacedFile]]] = {}

    def find(self, start: Mapping[TopicPartition, int]) -> None:
        """Discard what is staged, and remember what is visible from these offsets on.

        The visible files stay, although their offsets are not committed: their records are correct. They are removed
        when these offsets are written again, and not before: if Kafka no longer has the records, the only copy would be
        lost.
        """
        for topic in dict.fromkeys(partition.topic for partition in start):
            for staged in self._place.staged(self._layout.topic(topic)):
                named = self._layout.named(topic, staged.name)
                if named and TopicPartition(topic, named.partition) in start:
                    self._place.discard(staged)
            for partition, offset, file in self.visible(topic):
                if partition in start and offset >= start[partition]:
                    self._files.setdefault(partition, []).append((offset, file))

    def visible(self, topic: str) -> Iterator[tuple[TopicPartition, int, PlacedFile]]:
        """A topic's files, with the offset of their first record."""
        for file in self._place.files(self._layout.topic(topic)):
            if named := self._layout.named(topic, file.name):
                yield TopicPartition(topic, named.partition), named.offset, file

    def remove(self, split: SinkSplit, end: int, published: Set[str]) -> Iterator[str]:
        """Remove what was left at the offsets of a split, but for what was replaced by a file of the same name."""
        for offset, file in self._files.get(split.topic_partition, ()):
            mine = split.start <= offset < end and file.name not in published
            if mine and self._place.remove(file):
                yield file.name
