"""Comparing the offsets that Connect and this package have of one connector. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.java_text.json import partition_identity

Entries = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Comparison:
    """Offsets of one connector, on both sides, by partition.

    :param there: in Connect. :param here: in the worker's topics and groups.
    """

    there: Mapping[str, Any]
    here: Mapping[str, Any]

    @property
    def equal(self) -> bool:
        """Whether both sides would resume from the same position."""
        return self.there == self.here

    @property
    def same_partitions(self) -> bool:
        """Whether both sides know the same partitions: of a running connector the offsets move between two looks."""
        return self.there.keys() == self.here.keys()

    @property
    def differing(self) -> int:
        """How many partitions have other offsets, or one on one side only."""
        keys = {*self.there, *self.here}
        return sum(self.there.get(key) != self.here.get(key) for key in keys)

    def __str__(self) -> str:
        there = counted(len(self.there), "partition")
        if self.equal:
            return f"{there}, equal on both sides" if self.there else "none on both sides"
        return f"{there} in Connect, {len(self.here)} here, {self.differing} of them differ"


def compare(there: Entries, here: Entries) -> Comparison:
    """Compare two answers in the format of Connect's REST API."""
    return Comparison(_by_partition(there), _by_partition(here))


def changes(wanted: Entries, present: Entries) -> list[dict[str, Any]]:
    """The entries of a request that turns the present offsets into the wanted ones; empty if they are equal."""
    target, now = _by_partition(wanted), _by_partition(present)
    altered = [dict(entry) for entry in wanted if now.get(_identity(entry)) != entry["offset"]]
    dropped = [{"partition": entry["partition"], "offset": None} for entry in present if _identity(entry) not in target]
    return altered + dropped


def _by_partition(entries: Entries) -> dict[str, Any]:
    return {_identity(entry): entry["offset"] for entry in entries}


def _identity(entry: Mapping[str, Any]) -> str:
    return partition_identity(entry["partition"])


def counted(count: int, what: str) -> str:
    """`1 task`, `2 tasks`."""
    return f"{count} {what}{'' if count == 1 else 's'}"
