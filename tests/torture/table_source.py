"""A table source under torture: a Delta table that another engine appends to and compacts."""

from __future__ import annotations

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from tests.torture.connectors import Source

_STRING = "org.apache.kafka.connect.storage.StringConverter"
_CHANGES = {"mode": "changes"}
_BY_KEY = {**_CHANGES, "pk.fields": "n"}
_GROWING = {"mode": "incrementing", "incrementing.column.name": "n"}


class DeltaSource(Source):
    """Rows that are added, by the changes of the table or by a column."""

    kind = "table source, Delta"

    def prepare(self) -> None:
        self._mode = self.rng.choice((_CHANGES, _BY_KEY, _GROWING))
        schema = pa.schema([("n", pa.int64())])
        DeltaTable.create(self._table, schema=schema, configuration={"delta.enableChangeDataFeed": "true"})

    @property
    def _table(self) -> str:
        return str(self.folder / "t")

    def config(self) -> dict[str, str]:
        return {
            "connector.class": "SparkTableSource",
            "table.format": "delta",
            "table.path": self._table,
            "topic": self.name,
            "transforms": "value",
            "transforms.value.type": "org.apache.kafka.connect.transforms.ExtractField$Value",
            "transforms.value.field": "n",
            "key.converter": _STRING,
            "value.converter": _STRING,
            **self._mode,
        }

    def write(self, numbers: range) -> None:
        """In one commit or in several; sometimes small files become large ones, which changes nothing."""
        each = -(-len(numbers) // self.rng.choice((1, 3)))
        for first in range(numbers.start, numbers.stop, each):
            part = pa.array(range(first, min(first + each, numbers.stop)), pa.int64())
            write_deltalake(self._table, pa.table({"n": part}), mode="append")
        if self.rng.random() < 0.3:
            DeltaTable(self._table).optimize.compact()
            self.struck["compaction"] += 1

    def reconfigure(self) -> None:
        """Bounds are refused: a run reads up to a state of the table."""
        self.settings = self.some_settings()
