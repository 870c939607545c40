"""Table sinks under torture: rows of Iceberg and Delta, appended and by key. Another engine reads them back."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Collection
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tests.support.tables import rows_by_another_engine
from tests.torture.connectors import Sink
from tests.torture.others import APPEND, COMPACT, EXPIRE, FOREIGN, UPKEEP, OtherPrograms

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FIELDS = [{"field": name, "type": "int64"} for name in ("id", "n")]
_SCHEMA = {"type": "struct", "fields": _FIELDS}


class TableSink(Sink):
    """In every second schedule some records are bad: these are found by a second look at the plan, and skipped."""

    exactly_once = True
    failpoints: ClassVar[tuple[str, ...]] = (
        "after-reading-offsets",
        "planned",
        "mid-read",
        "after-last-write",
        "second-look",
        "before-announcement",
        "announced",
        "before-visible",
        "after-visible",
        "after-final-commit",
        "before-report",
    )
    set_back = True
    format: ClassVar[str]
    per_key: ClassVar[int] = 1
    """How many records have the same key: the last one stays."""
    session: ClassVar[Callable[[], SparkSession]]
    """Of other programs."""

    def prepare(self) -> None:
        self.tolerant, self.letters = self.rng.random() < 0.5, f"{self.name}-dlq"
        self.in_table = self.rng.random() < 0.5
        self.bad: set[int] = set()
        if self.tolerant:
            self.struck["bad records"] += 1
            self.kafka.create_topic(self.letters, 1)

    @property
    def warehouse(self) -> str:
        return str(self.folder / "warehouse")

    @property
    def _table(self) -> Path:
        return Path(self.warehouse) / "db" / "t"

    def config(self) -> dict[str, str]:
        return {
            "connector.class": "SparkTableSink",
            "topics": self.name,
            "table.format": self.format,
            "auto.create": "true",
            "key.converter": "org.apache.kafka.connect.converters.LongConverter",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            **self._tolerance(),
            **self.place(),
        }

    def _tolerance(self) -> dict[str, str]:
        if not self.tolerant:
            return {}
        place = {"table.enable": "true"} if self.in_table else {"topic.name": self.letters}
        letters = {f"errors.deadletterqueue.{key}": value for key, value in place.items()}
        return {"errors.tolerance": "all", **letters}

    def place(self) -> dict[str, str]:
        """Where the table is."""
        return {
            "table.name.format": "db.t",
            "table.catalog": "lake",
            "table.catalog.type": "hadoop",
            "table.catalog.warehouse": self.warehouse,
        }

    def write(self, numbers: range) -> None:
        if self.tolerant and self.rng.random() < 0.6:
            self.bad.update(self.rng.sample(numbers, min(3, len(numbers) // 10)))
        aborted = [self._record(-1 - number) for number in numbers[:20]] if self.rng.random() < 0.5 else []
        self.kafka.produce_pairs(self.name, map(self._record, numbers), aborted=aborted)

    def _record(self, number: int) -> tuple[bytes, bytes]:
        key = number // self.per_key
        value = json.dumps({"schema": _SCHEMA, "payload": {"id": key, "n": number}})
        return key.to_bytes(8, "big", signed=True), (f"oops {number}" if number in self.bad else value).encode()

    def expected(self) -> Collection[int]:
        return {number // self.per_key: number for number in range(self.added) if number not in self.bad}.values()

    def arrived(self) -> list[int]:
        return [n for n in self._numbers() if n < FOREIGN]

    def _numbers(self) -> list[int]:
        return [row["n"] for row in rows_by_another_engine(self._table)]

    def other_problems(self) -> list[str]:
        return [*self._about_foreign_rows(), *self._about_dead_letters()]

    def _about_foreign_rows(self) -> list[str]:
        if "_programs" not in vars(self):
            return []
        found = Counter(n for n in self._numbers() if n >= FOREIGN)
        lost = set(self._programs.sure) - set(found)
        doubled = [n for n, count in found.items() if count > 1]
        return [f"of another writer's rows {sorted(lost)} are lost, {doubled} doubled"] if lost or doubled else []

    def _about_dead_letters(self) -> list[str]:
        if not self.bad:
            return []
        if self.in_table:
            values = [bytes(row["value"]) for row in rows_by_another_engine(self._table.with_name("t__dlq"))]
        else:
            values = list({value for _, value in self.kafka.pairs(self.letters)})  # at least once
        found = sorted(int(value.split()[-1]) for value in values)
        return [] if found == sorted(self.bad) else [f"dead letters {found[:20]}, and {sorted(self.bad)[:20]} were bad"]

    @cached_property
    def _programs(self) -> OtherPrograms:
        name = None if self.format == "iceberg" else self.place()["table.name.format"]
        return OtherPrograms(type(self).session(), self.warehouse, name)

    def disturb(self, what: str) -> bool:
        return self._table.is_dir() and self._programs.do(what)

    def copy(self) -> Callable[[], None]:
        copied = self._table.with_name("copy")
        shutil.copytree(self._table, copied)

        def put_back() -> None:
            shutil.rmtree(self._table)
            copied.rename(self._table)

        return put_back


class _ByKey(TableSink):
    """A row per key: the last record's."""

    per_key = 2

    def config(self) -> dict[str, str]:
        return {**super().config(), "insert.mode": "upsert", "pk.mode": "record_key", "pk.fields": "id"}

    def add(self, count: int) -> None:
        super().add(count + (self.added + count) % self.per_key)


class _Iceberg(TableSink):
    format = "iceberg"
    others = (APPEND, APPEND, COMPACT, EXPIRE, UPKEEP)


class IcebergAppend(_Iceberg):
    """A row per record."""

    kind = "table sink, Iceberg"


class IcebergUpsert(_ByKey, _Iceberg):
    """The same by key."""

    kind = "table sink, Iceberg by key"


class _Delta(TableSink):
    format = "delta"
    others = (APPEND, APPEND, COMPACT, UPKEEP)

    def place(self) -> dict[str, str]:
        return {"table.name.format": f"delta.`{self.warehouse}/db/t`"}


class DeltaAppend(_Delta):
    """A row per record."""

    kind = "table sink, Delta"


class DeltaUpsert(_ByKey, _Delta):
    """The same by key."""

    kind = "table sink, Delta by key"
