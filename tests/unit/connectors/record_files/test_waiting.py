"""What the sensor for new files sees, and what it leaves behind."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.record_files.source import FilesSourceConnector
from airflow_kconnect.connectors.record_files.waiting import NewFilesCondition
from airflow_kconnect.stores.positions.condition import Finding
from tests.unit.connectors.record_files.conftest import Runs


def look(runs: Runs, **keys: str) -> Finding:
    config = {"connector.class": "FilesSource", "directory": str(runs.folder), "topic": "t", **keys}
    positions: Any = SimpleNamespace(name="files", config=config, source=lambda: runs.offsets)
    return NewFilesCondition().look(positions)


def test_files_that_were_not_read_are_new(runs: Runs) -> None:
    runs.put("a.csv", "a\n1\n")
    assert look(runs).met
    runs.read()
    assert not look(runs).met


def test_each_look_closes_what_it_has_opened(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[FilesSourceConnector] = []
    monkeypatch.setattr(FilesSourceConnector, "finished", lambda connector: closed.append(connector))
    runs.put("a.csv", "a\n1\n")
    look(runs)
    runs.read()
    runs.put("a.csv", "a\n1\n2\n")
    with pytest.raises(DataError):
        look(runs)
    assert len(closed) == 2


def test_a_folder_that_is_missing_is_waited_for_and_named_in_the_log(
    runs: Runs, caplog: pytest.LogCaptureFixture
) -> None:
    runs.folder.rmdir()
    assert not look(runs).met
    assert f"there is no folder {runs.folder}; it is waited for" in caplog.text
    runs.folder.mkdir()
    runs.put("a.csv", "a\n1\n")
    assert look(runs).met
