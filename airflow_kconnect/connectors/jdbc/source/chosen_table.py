"""What a run reads: a table (or the query) with its columns, cursor, topic and source partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from airflow_kconnect.connect.data import ConnectSchema, struct
from airflow_kconnect.connectors.jdbc.source.columns import Reading
from airflow_kconnect.connectors.jdbc.source.cursors import Cursor
from airflow_kconnect.connectors.jdbc.source.tables import Column, Table


@dataclass(frozen=True)
class Source:
    """A table or the query.

    :param relation: what follows FROM.
    :param partitions: source partitions that its offset may have; the first is written.
    :param key: columns of the records' keys; empty if keys are null.
    :param timestamps: the columns that form the cursor's timestamp.
    :param zone: zone of the cursor's timestamp, None if it knows its own, or is in UTC.
    :param is_wall: whether the cursor's timestamp does not know its zone.
    :param unit: nanoseconds: what the cursor's timestamps are multiples of, as far as its columns say.
    """

    table: Table
    relation: str
    partitions: tuple[dict[str, Any], ...]
    topic: str
    readings: tuple[Reading, ...]
    key: tuple[str, ...]
    cursor: Cursor
    timestamps: tuple[Column, ...] = ()
    zone: ZoneInfo | None = None
    is_wall: bool = False
    unit: int = 1

    @property
    def text(self) -> str:
        """Its name in messages."""
        return self.table.text

    def value_schema(self) -> ConnectSchema:
        """Schema of the records: named as the table."""
        name = self.table.name.name if self.table.name else None
        return struct(*((reading.name, reading.schema) for reading in self.readings), name=name)

    def key_schema(self) -> ConnectSchema | None:
        """Schema of the records' keys, None if they are null."""
        if not self.key:
            return None
        return struct(*((r.name, r.schema) for name in self.key for r in self.readings if r.name == name))
