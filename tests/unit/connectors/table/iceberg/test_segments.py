"""Between which states of a table differences are looked for."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from airflow_kconnect.connectors.table.source.iceberg_changes import segments


@dataclass
class Snapshot:
    """As Iceberg's own."""

    number: int
    kind: str

    def snapshotId(self) -> int:
        return self.number

    def operation(self) -> str:
        return self.kind


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["append", "delete"], [(0, 2)]),
        (["append", "replace", "overwrite", "delete"], [(0, 1), (2, 4)]),
        (["replace", "append"], [(1, 2)]),
        (["append", "replace"], [(0, 1)]),
        (["append", "replace", "replace", "delete"], [(0, 1), (3, 4)]),
        (["replace"], []),
    ],
)
def test_compactions_are_between_two_segments(kinds: list[str], expected: list[tuple[int, int]]) -> None:
    assert segments(0, [Snapshot(n + 1, kind) for n, kind in enumerate(kinds)]) == expected
