"""`kconnect preview`: what it reads and prints; the preview itself is another process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airflow_kconnect.cli import app
from airflow_kconnect.cli.preview import _opened

runner = CliRunner()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "connector.json"
    path.write_text(json.dumps({"value.converter": "StringConverter"}))
    return path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("{", "line 1: no JSON", id="no JSON"),
        pytest.param('{}\n"x"\n', "line 2: a record is a JSON object", id="no object"),
    ],
)
def test_a_wrong_record_is_named_by_its_line(config: Path, tmp_path: Path, text: str, expected: str) -> None:
    records = tmp_path / "records.jsonl"
    records.write_text(text)
    result = runner.invoke(app, ["preview", "--config", str(config), "--input", str(records)])
    assert (result.exit_code, expected in " ".join(result.output.split())) == (1, True)


def test_a_missing_file_is_an_error(config: Path, tmp_path: Path) -> None:
    result = runner.invoke(app, ["preview", "--config", str(config), "--input", str(tmp_path / "nothing")])
    assert (result.exit_code, "cannot read" in " ".join(result.output.split())) == (1, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("plain", "plain", id="text"),
        pytest.param('{"a":1}', {"a": 1}, id="JSON"),
        pytest.param('{"schema":null,"payload":[1]}', [1], id="envelope"),
        pytest.param(None, None, id="null"),
    ],
)
def test_values_are_shown_as_data(text: str | None, expected: object) -> None:
    assert _opened(text) == expected
