"""What the report of a run says about its tables; pure rules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.runs.warnings import Kind, RunWarning

SMALL_BYTES = 32_000_000
"""Readers spend more time on opening a smaller file than on reading it."""
_COUNTS = ("files", "bytes", "snapshots")
_COUNTS_OF_TABLES = (*_COUNTS, "records")
_TABLES_SHOWN, _PARTITIONS_SHOWN, _COLUMNS_SHOWN = 50, 20, 200


class TablesReport:
    """Adds up what tables report about the plans that they have taken: see `Table.publish`."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, Any]] = {}
        self._small: dict[str, tuple[int, int]] = {}

    def add(self, published: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """The notes of a plan: the counts of this plan, and ``tables``: all tables so far.

        :param published: of each table that has taken the plan its facts.
        """
        for table, facts in published.items():
            self._take(table, facts)
        counts = {name: sum(int(facts.get(name, 0)) for facts in published.values()) for name in _COUNTS}
        shown = dict(list(self._tables.items())[:_TABLES_SHOWN])
        return {**counts, **({"tables": shown} if shown else {})}

    def warnings(self) -> list[str]:
        """One for all tables, of the plan with the smallest files."""
        if not self._small:
            return []
        table, (files, size) = min(self._small.items(), key=lambda item: item[1][1] / item[1][0])
        more = f" (and of {len(self._small) - 1} other tables)" if len(self._small) > 1 else ""
        number = "1 file" if files == 1 else f"{files:,} files"
        rarer = math.ceil(SMALL_BYTES * files / max(size, 1))
        text = (
            f"{number} of {size / files / 1e6:.1f} MB on average {'was' if files == 1 else 'were'} written to {table}"
            f"{more}: readers are slow with files below {SMALL_BYTES // 1_000_000} MB. Run the connector about"
            f" {min(rarer, 1000):,} times less often, or have its tables compacted (LakeMaintenanceOperator,"
            " `kconnect tables maintain`)"
        )
        return [RunWarning(Kind.SMALL_FILES, text)]

    def _take(self, table: str, facts: Mapping[str, Any]) -> None:
        known = self._tables.setdefault(table, {})
        for name, fact in facts.items():
            if name in _COUNTS_OF_TABLES:
                known[name] = known.get(name, 0) + int(fact)
            elif name == "partitions":
                known[name] = sorted({*known.get(name, ()), *fact})[:_PARTITIONS_SHOWN]
            else:
                known[name] = fact[:_COLUMNS_SHOWN] if name == "columns" else fact
        files, size = int(facts.get("files", 0)), int(facts.get("bytes", 0))
        before = self._small.get(table)
        if files and size < files * SMALL_BYTES and (before is None or size * before[0] < before[1] * files):
            self._small[table] = (files, size)
