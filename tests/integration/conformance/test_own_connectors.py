"""Our own connectors pass the checks that others have to pass."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.conformance.findings import Status
from airflow_kconnect.conformance.harness import Harness, SinkHarness, SourceHarness
from tests.integration.conformance.conftest import Find

_STRING = "org.apache.kafka.connect.storage.StringConverter"
_JSON = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}


class Verifiable(SourceHarness):
    """Numbers."""

    def config(self) -> dict[str, str]:
        return {"topic": self.topic, "max.seqno": "9"}


class LinesOfAFile(SourceHarness):
    """A file that grows."""

    def __init__(self, folder: Path, topic: str) -> None:
        super().__init__(folder, topic)
        self.file, self.count = folder / "in.txt", 0
        self.file.touch()

    def config(self) -> dict[str, str]:
        return {"file": str(self.file), "topic": self.topic, "value.converter": _STRING}

    def add(self, count: int) -> None:
        with self.file.open("a") as out:
            out.writelines(f"line {n}\n" for n in range(self.count, self.count + count))
        self.count += count


class TableOfSqlite(SourceHarness):
    """A table that grows."""

    def __init__(self, folder: Path, topic: str) -> None:
        super().__init__(folder, topic)
        self.database = folder / "in.db"
        self._execute("CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, n INT NOT NULL)")

    def _execute(self, statement: str) -> None:
        with closing(sqlite3.connect(self.database)) as connection, connection:
            connection.execute(statement)

    def config(self) -> dict[str, str]:
        return {
            "connection.url": f"jdbc:sqlite:{self.database}",
            "mode": "incrementing",
            "incrementing.column.name": "id",
            "table.whitelist": "t",
            "topic.prefix": f"{self.topic}-",
        }

    def add(self, count: int) -> None:
        self._execute(f"INSERT INTO t (n) VALUES {','.join(['(7)'] * count)}")


class LinesOut(SinkHarness):
    """A file of lines."""

    def config(self) -> dict[str, str]:
        return {"file": str(self.folder / "out.txt"), "value.converter": _STRING}

    def arrived(self) -> Iterator[str]:
        file = self.folder / "out.txt"
        yield from file.read_text().splitlines() if file.exists() else []


class FilesOut(SinkHarness):
    """A folder of files with JSON lines."""

    def config(self) -> dict[str, str]:
        return {"directory": str(self.folder / "out"), **_JSON}

    def arrived(self) -> Iterator[Any]:
        for file in (self.folder / "out").rglob("*.json*"):
            if not any(part.startswith((".", "_")) for part in file.relative_to(self.folder).parts):
                yield from map(json.loads, file.read_text().splitlines())


class RowsOut(SinkHarness):
    """A table of SQLite, by key."""

    def config(self) -> dict[str, str]:
        return {
            "connection.url": f"jdbc:sqlite:{self.folder / 'out.db'}",
            "auto.create": "true",
            "auto.evolve": "true",
            "insert.mode": "upsert",
            "pk.mode": "record_value",
            "pk.fields": "id",
            "table.name.format": "t",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        }

    def arrived(self) -> Iterator[Any]:
        with closing(sqlite3.connect(self.folder / "out.db")) as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 't'").fetchall():
                return
            for number, text in connection.execute("SELECT id, text FROM t"):
                yield {"id": number, "text": text}


_OF_SOURCES = ("second-run", "bounds", "each-record", "killed:mid-produce", "killed:during-commit", "two-runs")
_OF_SINKS = ("second-run", "unicode", "nulls", "tombstones", "large", "killed:after-visible", "two-runs")
CASES: list[tuple[str, type[Harness], tuple[str, ...]]] = [
    ("VerifiableSource", Verifiable, ("killed:before-final-commit", "killed:after-final-commit", *_OF_SOURCES)),
    ("FileStreamSource", LinesOfAFile, _OF_SOURCES),
    ("JdbcSource", TableOfSqlite, _OF_SOURCES),
    ("FileStreamSink", LinesOut, ("second-run", "killed:after-visible", "two-runs")),
    ("DirectorySink", FilesOut, _OF_SINKS),
    ("JdbcSink", RowsOut, (*_OF_SINKS, "schema-change")),
]


@pytest.mark.parametrize("check", ["offsets", "same-again", "schemas", "poll"])
def test_a_task_of_ours_passes(find: Find, check: str) -> None:
    assert find("VerifiableSource", Verifiable, check).status is Status.PASSED


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("connector", "harness", "check"),
    [(connector, harness, check) for connector, harness, checks in CASES for check in checks],
)
def test_a_connector_of_ours_passes(find: Find, connector: str, harness: type[Harness], check: str) -> None:
    finding = find(connector, harness, check)
    assert finding.status is Status.PASSED, finding
