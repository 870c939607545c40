"""What all commands have in common."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airflow_kconnect.cli import app


@pytest.mark.parametrize("command", [[], ["run"], ["offsets"], ["offsets", "show"], ["topic", "tail"], ["doctor"]])
def test_a_short_option_asks_for_help(command: list[str]) -> None:
    result = CliRunner().invoke(app, [*command, "-h"])
    assert (result.exit_code, "Usage:" in result.stdout) == (0, True)


def test_an_environment_variable_names_the_worker_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KCONNECT_WORKER", str(tmp_path / "none.properties"))
    monkeypatch.setenv("COLUMNS", "200")
    result = CliRunner().invoke(app, ["offsets", "show", "orders"])
    assert (result.exit_code, f"cannot read {tmp_path}/none.properties" in result.stderr) == (1, True)


def test_configuration_errors_are_a_table_on_standard_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KCONNECT_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    result = CliRunner().invoke(app, ["pause", "orders"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "The configuration is invalid" in result.stderr
    assert "no Kafka is named. Start one with `kconnect broker start`" in result.stderr


@pytest.mark.parametrize(("arguments", "missing"), [(["--input", "x"], "NAME|FILE"), ([], "NAME|FILE")])
def test_a_preview_names_what_is_missing(arguments: list[str], missing: str) -> None:
    result = CliRunner().invoke(app, ["preview", *arguments])
    assert (result.exit_code, missing in result.stderr) == (2, True)


def test_a_preview_takes_the_connector_as_argument(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text("[]")
    (tmp_path / "r.jsonl").write_text("")
    command = ["preview", "--input", str(tmp_path / "r.jsonl")]
    by_argument = CliRunner().invoke(app, [*command, str(tmp_path / "c.json")])
    by_option = CliRunner().invoke(app, [*command, "--config", str(tmp_path / "c.json")])
    assert by_argument.exit_code == by_option.exit_code == 1
    assert json.loads(by_argument.stdout) == json.loads(by_option.stdout)
