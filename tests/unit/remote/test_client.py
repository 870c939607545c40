"""Requests to a server with Connect's REST API: what is retried, how it logs in, and what an error says."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.control.errors import NotFoundError
from airflow_kconnect.local.ports import free_port
from airflow_kconnect.remote.access import Access, Credentials
from airflow_kconnect.remote.client import RestClient
from airflow_kconnect.remote.errors import ServerError
from tests.support.certificates import self_signed
from tests.support.connect.api import ConnectApi, connect_api

BUSY = "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"
STALE = "Cannot complete request momentarily due to stale configuration"


def call(api: ConnectApi, *, patience_s: float = 20.0, **access: Any) -> object:
    client = RestClient(Access(api.url, **access), patience_s)
    try:
        return client.call("GET", "/x")
    finally:
        client.close()


@pytest.mark.parametrize(
    ("status", "text"),
    [(409, BUSY), (409, STALE), (500, "Request cannot be completed because a rebalance is expected")],
)
def test_a_rebalance_is_waited_for(api: ConnectApi, status: int, text: str) -> None:
    api.say("GET /x", (status, {"message": text}), (status, {"message": text}), (200, {"a": 1}))
    assert call(api) == {"a": 1}


@pytest.mark.parametrize("status", [409, 500])
def test_a_rebalance_that_does_not_end_is_temporary(api: ConnectApi, status: int) -> None:
    api.say("GET /x", (status, {"message": BUSY}))
    with pytest.raises(RetriableError, match=r"Cannot complete request because of a conflicting operation .*Try again"):
        call(api, patience_s=0.1)


def test_another_conflict_is_not_repeated(api: ConnectApi) -> None:
    api.say("GET /x", (409, {"message": "Connector x already exists"}), (200, {}))
    with pytest.raises(ServerError, match="Connector x already exists") as caught:
        call(api)
    assert caught.value.status == 409


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (500, {"message": "Request timed out. The worker is\nstarting"}, RetriableError, "timed out. The worker is st"),
        (500, {"message": "a bug"}, ServerError, r"failed \(HTTP 500\): a bug"),
        (503, {"message": "no broker"}, RetriableError, "no broker"),
        (502, "<html>", RetriableError, r"is unavailable \(HTTP 502, text/html\)"),
        (400, {"message": "Connectors must be in the STOPPED state"}, ServerError, "^Connectors must be in the"),
        (401, "<html>", ServerError, "does not know you: 401. Set KCONNECT_TOKEN"),
        (401, {"detail": "Not authenticated"}, ServerError, "does not know you: Not authenticated"),
        (403, "<html>", ServerError, "you have no right to it"),
        (403, {"message": "not yours"}, ServerError, "does not allow this: not yours"),
        (404, {"message": "Connector x not found"}, NotFoundError, "^Connector x not found$"),
        (404, "<html>", ServerError, r"does not answer like Connect's REST API \(HTTP 404"),
        (200, "<html>hello</html>", ServerError, r"does not answer like Connect's REST API \(HTTP 200, text/html"),
        (302, "", ServerError, "it redirects to elsewhere"),
    ],
)
def test_an_error_says_what_to_do(status: int, body: Any, kind: type[Exception], said: str, api: ConnectApi) -> None:
    api.say("GET /x", (status, body))
    with pytest.raises(kind, match=said) as caught:
        call(api)
    assert type(caught.value) is kind


def test_an_empty_answer(api: ConnectApi) -> None:
    api.say("GET /x", (200, None))
    assert call(api) is None


def test_nobody_answers() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(RetriableError, match=rf"{url} cannot be reached: .*Is the server running\?"):
        RestClient(Access(url)).call("GET", "/")


@pytest.mark.parametrize(
    ("credentials", "header"),
    [
        (Credentials(), None),
        (Credentials("t0k3n"), "Bearer t0k3n"),
        (Credentials(None, "ann", "s3cret"), "Basic YW5uOnMzY3JldA=="),
    ],
)
def test_the_login_is_sent(api: ConnectApi, credentials: Credentials, header: str | None) -> None:
    api.say("GET /x", (200, {}))
    call(api, credentials=credentials)
    assert api.logins == [header]


def test_a_certificate_of_the_own_authority_is_accepted_and_others_are_not(tmp_path: Path) -> None:
    certificate, key = self_signed()
    (tmp_path / "ca.pem").write_text(certificate)
    (tmp_path / "key.pem").write_text(key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "ca.pem", tmp_path / "key.pem")
    with connect_api(context) as api:
        api.say("GET /x", (200, {"a": 1}))
        assert call(api, ca_file=tmp_path / "ca.pem") == {"a": 1}
        with pytest.raises(RetriableError, match="CERTIFICATE_VERIFY_FAILED"):
            call(api)
