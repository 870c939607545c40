"""What an Iceberg table says of itself: its snapshots, and which plans they are of. Pure rules over its metadata."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.table.formats.base import earliest

STAGED, PUBLISHED, SOURCE = "wap.id", "published-wap-id", "source-snapshot-id"
"""In a snapshot's summary: the plan that it was staged for; the plan, and the staged snapshot, that it has copied."""
ATTEMPT, RANGES = "kconnect.attempt", "kconnect.ranges"

_PLAN = "kconnect.plan."
_PARTITION = "partitions."
_LONGEST_KEY = 200
_MERGED, _SORTS_OF_ROWS = "spark.merge-into.num-target-rows-", ("copied", "inserted", "updated")
_FACTS = {"files": "added-data-files", "bytes": "added-files-size", "records": "added-records"}


def plan_property(application: str) -> str:
    """The table property with the number of the last plan of an application. Some catalogs limit their names."""
    return _PLAN + application[-_LONGEST_KEY:]


@dataclass(frozen=True)
class Snapshot:
    """One snapshot; it may be staged."""

    id: int
    parent: int | None
    summary: Mapping[str, str]

    def number(self, application: str) -> int | None:
        """Number of the plan of an application that it has brought into the table."""
        mark = self.summary.get(PUBLISHED) or self.summary.get(STAGED) or ""
        owner, _, number = mark.rpartition(":")
        return int(number) if owner == application else None

    def is_made_of(self, staged: int) -> bool:
        """Whether it is this staged snapshot, or its copy on a later state."""
        return self.id == staged or self.summary.get(SOURCE) == str(staged)

    @property
    def rows(self) -> int:
        """How many rows it has added or changed. A merge that writes files again has copied others, too."""
        copied, inserted, updated = (int(self.summary.get(_MERGED + what, "0")) for what in _SORTS_OF_ROWS)
        return inserted + updated if copied > 0 else int(self.summary.get("added-records", "0"))

    def facts(self) -> dict[str, Any]:
        """What it has added, for the report; partitions if the table has `write.summary.partition-limit`."""
        counts = {name: int(self.summary.get(key, "0")) for name, key in _FACTS.items()}
        partitions = sorted(key.removeprefix(_PARTITION) for key in self.summary if key.startswith(_PARTITION))
        return {**counts, **({"partitions": partitions} if partitions else {})}


@dataclass(frozen=True)
class TableState:
    """A table at one moment.

    :param current: the snapshot that readers see; None: it is empty.
    :param snapshots: all that have not expired, staged ones too.
    """

    uuid: str
    format_version: int
    current: int | None
    snapshots: Mapping[int, Snapshot]
    properties: Mapping[str, str] = field(default_factory=dict)
    is_partitioned: bool = False

    @classmethod
    def parse(cls, metadata: str) -> TableState:
        """The state of a table with this metadata, in the JSON of Iceberg's specification."""
        found = json.loads(metadata)
        current, specs = found.get("current-snapshot-id"), found.get("partition-specs", ())
        snapshots = [
            Snapshot(each["snapshot-id"], each.get("parent-snapshot-id"), each.get("summary", {}))
            for each in found.get("snapshots", ())
        ]
        return cls(
            found["table-uuid"],
            found["format-version"],
            None if current in (None, -1) else current,
            {snapshot.id: snapshot for snapshot in snapshots},
            found.get("properties", {}),
            any(spec["fields"] for spec in specs if spec["spec-id"] == found["default-spec-id"]),
        )

    def history(self) -> Iterator[Snapshot]:
        """The snapshots that have made it what it is, the current one first, as far as they have not expired."""
        snapshot = self.snapshots.get(self.current) if self.current is not None else None
        while snapshot is not None:
            yield snapshot
            snapshot = self.snapshots.get(snapshot.parent) if snapshot.parent is not None else None

    def last_plan(self, application: str) -> int | None:
        """Number of the last plan of an application that it has; None: it has none.

        The snapshots say it. If older ones have expired, the table's property does, which was set together with the
        snapshot; but it does not know of a table that was restored since then.
        """
        oldest = None
        for snapshot in self.history():
            number = snapshot.number(application)
            if number is not None:
                return number
            oldest = snapshot
        if oldest is None or oldest.parent is None:
            return None
        text = self.properties.get(plan_property(application))
        return None if text is None else int(text)

    def lost_starts(self, application: str, number: int) -> dict[TopicPartition, int] | None:
        """See `Table.lost_starts`. A table that was rolled back has the snapshots after that until they expire."""
        kept = {snapshot.id for snapshot in self.history()}
        snapshot = next((s for s in self.snapshots.values() if s.number(application) == number), None)
        starts = []
        while snapshot is not None and snapshot.id not in kept:
            if snapshot.number(application) is not None:
                starts.append(self._starts(snapshot))
            snapshot = self.snapshots.get(snapshot.parent) if snapshot.parent is not None else None
        if snapshot is None or not starts or None in starts:
            return None
        return earliest(each for each in starts if each is not None)

    def _starts(self, snapshot: Snapshot) -> dict[TopicPartition, int] | None:
        """The first offsets of its plan. A copy does not say them, and what it has copied does."""
        source = self.snapshots.get(int(snapshot.summary.get(SOURCE, snapshot.id)))
        ranges = (source or snapshot).summary.get(RANGES)
        if ranges is None:
            return None
        topics = json.loads(ranges).items()
        return {
            TopicPartition(topic, int(p)): start for topic, of_topic in topics for p, (start, _) in of_topic.items()
        }

    def applications(self) -> list[str]:
        """Those that have ever published a plan, the end of their names at least."""
        return [key.removeprefix(_PLAN) for key in self.properties if key.startswith(_PLAN)]

    def published(self, staged: int) -> Snapshot | None:
        """What has made a staged snapshot visible; None: it is not visible."""
        return next((snapshot for snapshot in self.history() if snapshot.is_made_of(staged)), None)

    @property
    def is_empty(self) -> bool:
        """Whether it has no rows, and has had none since it was emptied as a whole."""
        current = self.snapshots.get(self.current) if self.current is not None else None
        return self.current is None or (current is not None and current.summary.get("total-records") == "0")
