"""Looks of the sensor for new files."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.record_files.offsets import changed
from airflow_kconnect.connectors.record_files.source import FilesSourceConnector
from airflow_kconnect.connectors.record_files.waiting import NewFilesCondition


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(FilesSourceConnector, "finished", lambda source: found.append(source.props["name"]))
    return found


def _positions(folder: Path) -> Any:
    config = {"name": "in", "connector.class": "FilesSource", "directory": str(folder), "topic": "t"}
    return cast("Any", SimpleNamespace(name="in", config=config, source=dict))


def test_each_look_closes_its_connections(tmp_path: Path, closed: list[str]) -> None:
    (tmp_path / "a.csv").touch()
    assert [NewFilesCondition().look(_positions(tmp_path)).met for _ in range(2)] == [True, True]
    assert closed == ["in", "in"]


def test_a_look_that_fails_closes_them_too(tmp_path: Path, closed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(source: FilesSourceConnector, context: object) -> list[str]:
        raise changed("a.csv")

    monkeypatch.setattr(FilesSourceConnector, "unread", fails)
    with pytest.raises(DataError, match=r"a\.csv was changed"):
        NewFilesCondition().look(_positions(tmp_path))
    assert closed == ["in"]
