"""`kconnect rest` and its token, which commands find by themselves and other users do not."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airflow_kconnect.cli import app
from airflow_kconnect.cli.connectors.target import chosen
from airflow_kconnect.remote.local_token import kept, new_token, token_of

URL = "http://127.0.0.1:8083"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path))


def test_commands_find_the_token_while_the_server_runs() -> None:
    token = new_token()
    with kept(URL, token):
        assert chosen(URL, None, None, None, {}).credentials.token == token
    assert chosen(URL, None, None, None, {}).credentials.token is None


def test_a_token_of_the_environment_goes_first() -> None:
    with kept(URL, new_token()):
        assert chosen(URL, None, None, None, {"KCONNECT_TOKEN": "mine"}).credentials.token == "mine"


def test_only_its_user_can_read_the_file() -> None:
    with kept(URL, new_token()) as file:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        file.chmod(0o644)
        assert token_of(URL) is None


@pytest.mark.parametrize("url", ["http://127.0.0.1:8084", "http://connect.example.com:8083"])
def test_no_other_server_gets_it(url: str) -> None:
    with kept(URL, new_token()):
        assert token_of(url) is None


def test_a_file_with_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("geheim")
    file.chmod(0o640)
    result = CliRunner().invoke(app, ["rest", "--token-file", str(file), "--bootstrap-servers", "127.0.0.1:9"])
    assert result.exit_code != 0
    assert "others can read" in result.output


def test_processes_that_the_server_starts_do_not_inherit_its_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCONNECT_REST_TOKEN", "geheim")
    result = CliRunner().invoke(app, ["rest", "--no-token", "--bootstrap-servers", "127.0.0.1:9"])
    assert "exclude each other" in result.output  # it was read
    assert "KCONNECT_REST_TOKEN" not in os.environ
