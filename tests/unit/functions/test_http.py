"""The HTTP client of functions, against a real server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.functions import http
from airflow_kconnect.functions.http import http_client
from tests.support.http_server import http_server

Answers = Callable[..., str]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_FIRST_S", 0.001)


@pytest.fixture
def answers() -> Iterator[Answers]:
    """`answers((status, headers), ...)`: the address of a server that answers so, one after the other, then 200."""
    with ExitStack() as servers:
        yield lambda *given: servers.enter_context(http_server(*given)).url


@pytest.mark.parametrize("status", [429, 500, 503, 507, 520])
def test_a_busy_server_is_asked_again(status: int, answers: Answers) -> None:
    with http_client(base_url=answers((status, {}), (status, {}))) as client:
        assert client.get("/orders").text == "3"


def test_it_is_asked_when_it_says(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(http, "_wait", waited.append)
    with http_client(base_url=answers((429, {"Retry-After": "7"}))) as client:
        client.get("/")
    assert waited == [7.0]


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "3600"}], ids=["too often", "too long"])
def test_a_server_that_stays_busy_is_a_reason_to_retry_later(headers: dict[str, str], answers: Answers) -> None:
    text = r"GET http://127\.0\.0\.1:\d+/orders: 503 Service Unavailable \("
    client = http_client(base_url=answers(*[(503, headers)] * 9))
    with client, pytest.raises(RetriableError, match=text):
        client.get("/orders", params={"token": "secret"})


def test_an_answer_that_will_not_change_is_an_error_without_the_query(answers: Answers) -> None:
    with http_client(base_url=answers((403, {}))) as client, pytest.raises(DataError) as error:
        client.get("/orders", params={"token": "secret"})
    assert str(error.value).endswith("/orders: 403 Forbidden")


def test_a_request_that_may_have_been_done_is_not_sent_again(answers: Answers) -> None:
    client = http_client(base_url=answers((500, {})))
    with client, pytest.raises(RetriableError, match="It may have been done, so it is not retried"):
        client.post("/orders")


def test_with_an_idempotency_key_it_is(answers: Answers) -> None:
    with http_client(base_url=answers((500, {}))) as client:
        assert client.post("/orders", headers={"Idempotency-Key": "1"}).text == "2"


def test_without_a_server_it_is_worth_a_retry(answers: Answers) -> None:
    client = http_client(base_url="http://127.0.0.1:1", attempts=2)
    with client, pytest.raises(RetriableError, match=r"ConnectError: .* \(2 attempts\)"):
        client.get("/")


def test_a_limit_that_is_named_as_github_does_is_waited_for(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(http, "_wait", waited.append)
    with http_client(base_url=answers((403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9"}))) as client:
        client.get("/")
    assert waited == [9.0]


def test_a_limit_may_name_the_time(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(http, "_wait", waited.append)
    with http_client(base_url=answers((429, {"X-RateLimit-Reset": str(int(time.time()) + 20)}))) as client:
        client.get("/")
    assert 15 < waited[0] <= 20
