"""Table sinks under torture: rows of Iceberg and Delta, appended and by key. Another engine reads them back."""

from __future__ import annotations

import json
from typing import ClassVar

from tests.support.tables import rows_by_another_engine
from tests.torture.connectors import Sink

_FIELDS = [{"field": name, "type": "int64"} for name in ("id", "n")]
_SCHEMA = {"type": "struct", "fields": _FIELDS}


class _TableSink(Sink):
    exactly_once = True
    failpoints: ClassVar[tuple[str, ...]] = (
        "after-reading-offsets",
        "after-last-write",
        "before-announcement",
        "before-visible",
        "after-visible",
        "after-final-commit",
    )
    format: ClassVar[str]
    per_key: ClassVar[int] = 1
    """How many records have the same key: the last one stays."""

    @property
    def warehouse(self) -> str:
        return str(self.folder / "warehouse")

    def config(self) -> dict[str, str]:
        return {
            "connector.class": "SparkTableSink",
            "topics": self.name,
            "table.format": self.format,
            "auto.create": "true",
            "key.converter": "org.apache.kafka.connect.converters.LongConverter",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            **self.place(),
        }

    def place(self) -> dict[str, str]:
        """Where the table is."""
        return {
            "table.name.format": "db.t",
            "table.catalog": "lake",
            "table.catalog.type": "hadoop",
            "table.catalog.warehouse": self.warehouse,
        }

    def write(self, numbers: range) -> None:
        aborted = [self._record(-1 - number) for number in numbers[:20]] if self.rng.random() < 0.5 else []
        self.kafka.produce_pairs(self.name, map(self._record, numbers), aborted=aborted)

    def _record(self, number: int) -> tuple[bytes, bytes]:
        key = number // self.per_key
        value = {"schema": _SCHEMA, "payload": {"id": key, "n": number}}
        return key.to_bytes(8, "big", signed=True), json.dumps(value).encode()

    def arrived(self) -> list[int]:
        return [row["n"] for row in rows_by_another_engine(f"{self.warehouse}/db/t")]


class _ByKey(_TableSink):
    """A row per key: the last record's."""

    per_key = 2

    def config(self) -> dict[str, str]:
        return {**super().config(), "insert.mode": "upsert", "pk.mode": "record_key", "pk.fields": "id"}

    def expected(self) -> range:
        return range(1, self.added, 2)

    def add(self, count: int) -> None:
        super().add(count + (self.added + count) % self.per_key)


class IcebergAppend(_TableSink):
    """A row per record."""

    kind = "table sink, Iceberg"
    format = "iceberg"


class IcebergUpsert(_ByKey):
    """The same by key."""

    kind = "table sink, Iceberg by key"
    format = "iceberg"


class _Delta(_TableSink):
    format = "delta"

    def place(self) -> dict[str, str]:
        return {"table.name.format": f"delta.`{self.warehouse}/db/t`"}


class DeltaAppend(_Delta):
    """A row per record."""

    kind = "table sink, Delta"


class DeltaUpsert(_ByKey, _Delta):
    """The same by key."""

    kind = "table sink, Delta by key"
