"""A folder with files of a test, and what a run of one of connect-spooldir's sources makes of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connectors.spooldir.source import SpoolDirCsvSourceConnector, SpoolDirSourceConnector
from tests.unit.connectors.record_files.conftest import Runs

PACKAGE = "com.github.jcustenborder.kafka.connect.spooldir"

TIMESTAMP = {"type": "INT64", "name": "org.apache.kafka.connect.data.Timestamp", "version": 1}


def schema(name: str = "shop.Order", /, **fields: dict[str, Any]) -> str:
    return json.dumps({"name": name, "type": "STRUCT", "isOptional": False, "fieldSchemas": fields})


def plain(type_: str, *, optional: bool = True) -> dict[str, Any]:
    return {"type": type_, "isOptional": optional}


VALUE = schema(id=plain("INT64", optional=False), name=plain("STRING"))
SCHEMAS = {"value.schema": VALUE, "key.schema": schema("shop.Key", id=plain("INT64", optional=False))}


class SpoolDir(Runs):
    """Runs with the keys of connect-spooldir. :param class_: of the connector."""

    def __init__(self, root: Path) -> None:
        super().__init__(root / "in")
        self.folder.mkdir()
        self.class_: type[SpoolDirSourceConnector] = SpoolDirCsvSourceConnector
        self.keys: list[Any] = []
        self.timestamps: list[int] = []

    def props(self, keys: Mapping[str, str]) -> dict[str, str]:
        """A configuration with these keys."""
        root = self.folder.parent
        least = {
            "input.path": str(self.folder),
            "finished.path": str(root / "done"),
            "error.path": str(root / "bad"),
            "input.file.pattern": ".*",
            "topic": "t",
        }
        return {**least, **keys}

    def connector(self, **keys: str) -> SpoolDirSourceConnector:
        return self.class_(self.props(keys))

    def values(self, *keys: Mapping[str, str], most: int | None = None) -> list[Any]:
        """Those of a run with these keys; see `read`."""
        merged: dict[str, Any] = {}
        for each in keys:
            merged |= each
        return self.read(most=most, **merged)

    def _note(self, row: dict[str, Any], found: list[Any]) -> int:
        if row["error"] is None:
            self.keys.append(row.get("key"))
            self.timestamps.append(row.get("timestamp", 0))
        return super()._note(row, found)


@pytest.fixture
def runs(tmp_path: Path) -> SpoolDir:
    """Of an empty folder."""
    return SpoolDir(tmp_path)
