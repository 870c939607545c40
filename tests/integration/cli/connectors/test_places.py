"""What commands say when a place cannot be used, and how they log in."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from airflow_kconnect.local.ports import free_port
from tests.support.pages.rest_server import rest_server

Kconnect = Callable[..., Result]
TOKEN = "t0k3n-of-a-test"


class _Page(BaseHTTPRequestHandler):
    """Something that is not a REST API."""

    def do_GET(self) -> None:
        self.send_response(302 if self.path.startswith("/login") else 200)
        if self.path.startswith("/login"):
            self.send_header("Location", "/elsewhere?secret=1")
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html>")

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def page() -> Iterator[str]:
    """The URL of a server with pages."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def guarded(control_file: Path) -> Iterator[str]:
    """The URL of a REST API that wants a token."""
    with rest_server(control_file, TOKEN) as url:
        yield url


@pytest.fixture
def kconnect(monkeypatch: pytest.MonkeyPatch) -> Kconnect:
    """The command, with tables that are wide enough for whole texts."""
    monkeypatch.setenv("COLUMNS", "500")
    return lambda *arguments: CliRunner().invoke(app, list(map(str, arguments)))


def test_no_one_who_answers_is_worth_another_try(kconnect: Kconnect) -> None:
    result = kconnect("list", "--server", f"http://127.0.0.1:{free_port()}")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "cannot be reached" in result.stderr


@pytest.mark.parametrize(
    ("path", "text"), [("", "does not answer like Connect's REST API (HTTP 200"), ("/login", "redirects to /elsewhere")]
)
def test_something_else_is_named(kconnect: Kconnect, page: str, path: str, text: str) -> None:
    result = kconnect("list", "--server", page + path)
    assert result.exit_code == 1
    assert text in result.stderr
    assert "secret=1" not in result.stderr


def test_a_path_that_is_not_ours_is_named(kconnect: Kconnect, guarded: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCONNECT_TOKEN", TOKEN)
    assert kconnect("list", "--server", f"{guarded}/other").exit_code == 1


def test_without_a_token_it_says_how_to_log_in(kconnect: Kconnect, guarded: str) -> None:
    result = kconnect("list", "--server", guarded)
    assert result.exit_code == 1
    assert "does not know you" in result.stderr
    assert "KCONNECT_TOKEN" in result.stderr


def test_the_environment_has_the_token(kconnect: Kconnect, guarded: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCONNECT_TOKEN", TOKEN)
    assert kconnect("list", "--server", guarded).exit_code == 0


def test_a_profile_has_server_and_token(
    kconnect: Kconnect, guarded: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    (tmp_path / "config.toml").write_text(f'[profiles.prod]\nserver = "{guarded}"\ntoken_file = "token"\n')
    monkeypatch.setenv("KCONNECT_CONFIG", str(tmp_path / "config.toml"))
    assert kconnect("list", "--profile", "prod").exit_code == 0


def test_the_topics_start_no_runs(kconnect: Kconnect, control_file: Path, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(
        '{"name": "restarted", "connector.class": "FileStreamSource", "file": "/x", "topic": "t"}'
    )
    kconnect("create", tmp_path / "c.json", "--worker", control_file)
    result = kconnect("restart", "restarted", "--worker", control_file)
    assert result.exit_code == 1
    assert "nothing at the topics of" in result.stderr


def test_a_rest_api_knows_no_lag(kconnect: Kconnect, guarded: str) -> None:
    result = kconnect("lag", "orders", "--server", guarded)
    assert (result.exit_code, "--bootstrap-servers" in result.stderr) == (1, True)
