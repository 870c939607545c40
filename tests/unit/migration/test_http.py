"""Requests to Connect: what is retried, and what an error says."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.local.ports import free_port
from airflow_kconnect.migration.credentials import Access
from airflow_kconnect.migration.http import ConnectHttp, MissingError
from tests.support.connect_api import ConnectApi

BUSY = "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"


def send(api: ConnectApi, *, patience_s: float = 20.0) -> object:
    return ConnectHttp(Access.of(api.url, environment={}), patience_s).send("GET", "/x")


@pytest.mark.parametrize(
    ("status", "text"), [(409, BUSY), (500, "Request cannot be completed because a rebalance is expected")]
)
def test_a_rebalance_is_waited_for(api: ConnectApi, status: int, text: str) -> None:
    api.say("GET /x", (status, {"message": text}), (status, {"message": text}), (200, {"a": 1}))
    assert send(api) == {"a": 1}


def test_a_rebalance_that_does_not_end_is_temporary(api: ConnectApi) -> None:
    api.say("GET /x", (409, {"message": BUSY}))
    with pytest.raises(RetriableError, match="409 Cannot complete request because of a conflicting operation"):
        send(api, patience_s=0.1)


def test_other_errors_of_connect_are_not_repeated(api: ConnectApi) -> None:
    api.say("GET /x", (500, {"message": "Request timed out. The worker is currently\nstarting"}), (200, {}))
    with pytest.raises(RetriableError, match=r"GET http://.*/x: 500 Request timed out\. The worker is currently star"):
        send(api)


def test_no_connection(api: ConnectApi) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(RetriableError, match=rf"no Connect worker can be reached at {url}: .*Check --from"):
        ConnectHttp(Access.of(url, environment={})).send("GET", "/")


@pytest.mark.parametrize(("status", "text"), [(401, "refuses the login"), (403, "may not do this")])
def test_a_refused_login_is_about_the_user(api: ConnectApi, status: int, text: str) -> None:
    api.say("GET /x", (status, "<html>"))
    with pytest.raises(ConfigError, match=f"`--user`: .*{text}"):
        send(api)


def test_an_unknown_connector(api: ConnectApi) -> None:
    with pytest.raises(MissingError, match="404 HTTP 404 Not Found"):
        send(api)


def test_a_request_that_connect_refuses(api: ConnectApi) -> None:
    api.say("GET /x", (400, {"message": "Connectors must be in the STOPPED state"}))
    with pytest.raises(DataError, match="400 Connectors must be in the STOPPED state"):
        send(api)


def test_a_page_is_not_an_answer_of_connect(api: ConnectApi) -> None:
    api.say("GET /x", (200, "<html>hello</html>"))
    with pytest.raises(ConfigError, match="is not the REST API of Kafka Connect: it answers with text/html"):
        send(api)


def test_the_login_is_sent(api: ConnectApi) -> None:
    api.say("GET /x", (200, {}))
    environment = {"KCONNECT_CONNECT_USER": "ann", "KCONNECT_CONNECT_PASSWORD": "s3cret"}
    ConnectHttp(Access.of(api.url, environment=environment)).send("GET", "/x")
    assert api.logins == ["Basic YW5uOnMzY3JldA=="]
