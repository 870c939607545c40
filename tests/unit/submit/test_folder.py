"""Folders of connector files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.submit.folder import connector_files, read_files


def put(folder: Path, file: str, content: object) -> Path:
    path = folder / file
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_files_are_sorted_and_others_left_out(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.json", "c.properties", "README.md", ".hidden.json"):
        put(tmp_path, name, "")
    (tmp_path / "below.json").mkdir()

    assert [file.name for file in connector_files(tmp_path)] == ["a.json", "b.yaml", "c.properties"]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not a folder"):
        connector_files(tmp_path / "nowhere")


def test_connectors_are_found_by_name_and_errors_by_file(tmp_path: Path) -> None:
    good = put(tmp_path, "good.json", {"name": "x", "topic": "t"})
    twice = put(tmp_path, "twice.json", {"name": "x"})
    nameless = put(tmp_path, "nameless.json", {"topic": "t"})
    broken = put(tmp_path, "broken.json", "{")

    connectors, errors = read_files([broken, good, nameless, twice])

    assert {name: (connector.file, connector.config) for name, connector in connectors.items()} == {
        "x": (good, {"name": "x", "topic": "t"})
    }
    assert errors[str(nameless)] == ["`name`: is missing"]
    assert errors[str(twice)] == ["`name`: `x` is the connector of good.json too"]
    assert errors[str(broken)][0].startswith("the file is not JSON")


def test_values_are_not_shown_by_accident(tmp_path: Path) -> None:
    connectors, _ = read_files([put(tmp_path, "a.json", {"name": "a", "connection.password": "very-secret-1"})])

    assert "very-secret-1" not in repr(connectors)
