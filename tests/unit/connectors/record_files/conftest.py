"""A folder with files of a test, planned and read as by runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.connector.source import Offset, PlanContext, SourcePlan
from airflow_kconnect.connect.error_cells import error_from_column, record_error
from airflow_kconnect.connectors.record_files.source import FilesSourceConnector
from airflow_kconnect.java_text.json import partition_identity
from tests.support.connectors.plans import plan_context


class Runs:
    """Runs of a connector over a folder; the offsets and facts of one are those from which the next begins."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.offsets: dict[str, Offset] = {}
        self.facts: dict[str, Mapping[str, Any]] = {}
        self.errors: list[str] = []
        self.warnings: list[str] = []

    def put(self, name: str, content: str | bytes) -> Path:
        """Write a file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def connector(self, **keys: str) -> FilesSourceConnector:
        """One with these keys."""
        return FilesSourceConnector({"directory": str(self.folder), "topic": "t", **keys})

    def context(self, **bounds: Any) -> PlanContext:
        """Where the next run begins."""
        return plan_context(self.offsets, self.facts, **bounds)

    def plan(self, connector: FilesSourceConnector, splits_max: int | None = None) -> SourcePlan:
        """What it would read."""
        return connector.plan(self.context(splits_max=splits_max))

    def read(
        self,
        *,
        most: int | None = None,
        tidied: bool = True,
        before_tidying: Callable[[], object] = lambda: None,
        **keys: Any,
    ) -> list[Any]:
        """The values of a run; its bad rows are in `errors`.

        :param most: rows after which it is stopped. :param tidied: else it is killed when its offsets are committed.
        :param before_tidying: what happens then.
        """
        names = {key.replace("_", "."): str(value) for key, value in keys.items()}
        connector = self.connector(**names)
        plan = self.plan(connector, None if most is None else 1)
        found: list[Any] = []
        splits = list(enumerate(plan.splits))
        frame = connector.batches([(n, split, split.start) for n, split in splits]) if splits else None
        committed: dict[str, tuple[dict[str, Any], Offset]] = {}
        bad: Counter[str] = Counter()
        for n, split in splits:
            before = len(self.errors)
            reached = split.start
            batches = frame.read(n) if frame else ()
            for row in (row for batch in batches for row in batch.to_pylist()):
                if most is not None and len(found) + len(self.errors) >= most:
                    break
                reached = self._note(row, found)
            else:
                reached = split.end
            identity = partition_identity(split.source_partition)
            bad[identity] += len(self.errors) - before
            offset = connector.with_bad_records(connector.offset(split, reached), bad[identity])
            committed[identity] = split.source_partition, offset
            self.facts[identity] = connector.facts(split) or {}
        self.offsets |= {identity: offset for identity, (_, offset) in committed.items()}
        if tidied:
            before_tidying()
            self._tidy(connector, list(committed.values()))
        return found

    def _tidy(self, connector: FilesSourceConnector, committed: list[tuple[dict[str, Any], Offset]]) -> None:
        tidied = connector.tidy(committed)
        self.warnings = list(tidied.warnings) if tidied else []
        for partition in tidied.forgotten if tidied else ():
            self.offsets.pop(partition_identity(partition))
            self.facts.pop(partition_identity(partition), None)
        if tidied and tidied.facts is not None:
            partition, facts = tidied.facts
            self.facts[partition_identity(partition)] = facts

    def _note(self, row: dict[str, Any], found: list[Any]) -> int:
        error = row["error"]
        if error is None:
            found.append(row[f"value_{row.get('tag', 0)}"])
        elif (bad := record_error(error)) is not None:
            self.errors.append(bad.message)
        else:
            raise error_from_column(error, "")
        return int(row["progress"])


def names_below(folder: Path) -> list[str]:
    """Of all files, hidden ones too."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    """Of an empty folder."""
    return Runs(tmp_path)
