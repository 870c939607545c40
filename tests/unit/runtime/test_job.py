"""What the job's own log shows of values that only the job has looked up."""

from __future__ import annotations

import io
import json
import logging
import urllib.parse

import pytest

from airflow_kconnect.functions.http import http_client
from airflow_kconnect.runtime.job import _Hiding, _log_to_stderr
from airflow_kconnect.variables.hidden_values import HiddenValues
from airflow_kconnect.variables.resolver import ConfigResolver
from tests.support.http_server import http_server

CANARY = 's3cret "canary"/ä'


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> str:
    """A message with a secret, a message with its escaped forms, and a traceback with it."""
    monkeypatch.setenv("KCONNECT_CANARY", CANARY)
    hidden = HiddenValues()
    resolver = ConfigResolver.from_worker({}, hidden=hidden)
    resolver.resolve({"password": "${env:KCONNECT_CANARY}"})
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_Hiding(hidden.hide_in_log))
    log = logging.Logger("job")
    log.addHandler(handler)
    log.warning("cannot connect with %s", CANARY)
    log.warning("%s %s %r", json.dumps(CANARY), urllib.parse.quote(CANARY), CANARY)
    try:
        raise ValueError(f"refused: {CANARY}")
    except ValueError:
        log.exception("unexpected error")
    return stream.getvalue()


def test_secrets_are_shown_as_their_variables(logged: str) -> None:
    assert "cannot connect with ${env:KCONNECT_CANARY}" in logged
    assert "ValueError: refused: ${env:KCONNECT_CANARY}" in logged


def test_no_form_of_a_secret_is_left(logged: str) -> None:
    assert "canary" not in logged


def test_no_query_of_a_request_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), caplog.at_level(logging.INFO, "httpx"):
        _log_to_stderr()
        with http_server() as server, http_client() as client:
            client.get(server.url, params={"api_key": CANARY})
    assert "api_key" not in caplog.text
