"""`kconnect conformance`: what its arguments may be. What checks find: tests/integration/conformance."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app

_SOURCE = "tests.support.connectors.lines:Lines"


def _called(*arguments: str) -> Result:
    # No broker is asked before all arguments are known to be right.
    return CliRunner().invoke(app, ["conformance", *arguments, "--bootstrap-servers", "localhost:1"])


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "lines.json"
    path.write_text('{"file": "lines.txt", "topic": "lines"}')
    return str(path)


@pytest.mark.parametrize(
    ("connector", "reason"),
    [
        ("Nothing", "Failed to find any class"),
        ("nowhere.py:Lines", "names nowhere.py, which is not a file"),
        ("no_module:Lines", "no_module cannot be imported: ModuleNotFoundError"),
        ("tests.support.connectors.lines:Nothing", "has no Nothing"),
        ("tests.support.connectors.lines:LINE", "is neither a connector class nor a decorated function"),
        ("tests.support.connectors.lines:", "expected module:Name or file.py:Name"),
    ],
)
def test_a_class_that_is_none_is_an_error(connector: str, reason: str, config: str) -> None:
    result = _called(connector, "--config", config)
    assert (result.exit_code, reason in " ".join(result.stderr.split())) == (1, True), result.stderr


def test_a_check_that_does_not_exist_is_an_error_that_lists_them(config: str) -> None:
    result = _called(_SOURCE, "--config", config, "--only", "killed:never")
    assert (result.exit_code, "there are offsets, same-again" in " ".join(result.stderr.split())) == (1, True)


def test_a_configuration_or_a_harness_is_needed() -> None:
    result = _called(_SOURCE)
    assert (result.exit_code, "name a configuration, or a harness" in " ".join(result.stderr.split())) == (1, True)


def test_a_harness_that_is_none_is_an_error() -> None:
    result = _called(_SOURCE, "--harness", _SOURCE)
    assert (result.exit_code, "not a subclass of SourceHarness" in " ".join(result.stderr.split())) == (1, True)


@pytest.mark.parametrize("stem", ["json", "time"])
def test_a_file_that_is_named_as_another_module_is_not_taken_for_it(stem: str, config: str, tmp_path: Path) -> None:
    (tmp_path / f"{stem}.py").write_text("Lines = None")
    result = _called(f"{tmp_path / stem}.py:Lines", "--config", config)
    assert (result.exit_code, "rename the file" in " ".join(result.stderr.split())) == (1, True), result.stderr


def test_what_was_started_is_ended_on_sigterm_as_on_ctrl_c(config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    monkeypatch.setattr("airflow_kconnect.conformance.suite.checks_of", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    try:
        assert _called(_SOURCE, "--config", config).exit_code == 128 + signal.SIGTERM
    finally:
        signal.signal(signal.SIGTERM, before)
