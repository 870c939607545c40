"""Callers that are slow, many or send too much, at a real HTTP server: they hold up no one else."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from airflow_kconnect.local.ports import LOOPBACK
from airflow_kconnect.rest import bodies
from airflow_kconnect.rest.access import TokenPolicy
from airflow_kconnect.rest.app import create_app
from airflow_kconnect.rest.headers import MOST_BYTES
from airflow_kconnect.rest.threads import THREADS, WAITING

BUSY = 60  # more than there are threads for requests


class _SlowPlane:
    """A control plane whose answers about one connector wait."""

    problem = None

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.waiting = threading.Semaphore(0)

    def names(self) -> list[str]:
        return []

    def config(self, name: str) -> dict[str, str]:
        self.waiting.release()
        self.let_go.wait(60)
        return {"name": name}


@pytest.fixture
def plane() -> Iterator[_SlowPlane]:
    slow = _SlowPlane()
    yield slow
    slow.let_go.set()


@pytest.fixture
def port(plane: Any) -> Iterator[int]:
    """The port of a server that has something else to do, too, as Airflow's has."""
    with socket.socket() as bound:
        bound.bind((LOOPBACK, 0))
        bound.listen(256)
        outer = FastAPI()
        outer.add_api_route("/own", lambda: "answered")
        outer.mount("/", create_app(lambda: plane, TokenPolicy(None)))
        server = uvicorn.Server(uvicorn.Config(outer, log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        yield bound.getsockname()[1]
        plane.let_go.set()
        server.should_exit = True
        thread.join(30)


@pytest.fixture
def client(port: int) -> Iterator[httpx.Client]:
    """A client of that server for any number of threads: one connection for each."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    with httpx.Client(base_url=f"http://{LOOPBACK}:{port}", limits=limits, timeout=60) as client:
        yield client


def _first_line(port: int, request: bytes) -> bytes:
    with socket.create_connection((LOOPBACK, port), timeout=30) as connection:
        connection.sendall(request)
        return connection.makefile("rb").readline()


def test_a_body_that_does_not_come_is_not_waited_for(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "_PATIENCE_S", 0.2)
    request = b"POST /connectors HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    assert _first_line(port, request) == b"HTTP/1.1 408 Request Timeout\r\n"


def test_a_header_of_ten_kilobytes_is_answered(port: int) -> None:
    request = b"GET /health HTTP/1.1\r\nHost: a\r\nX-Long: " + b"x" * 10_000 + b"\r\n\r\n"
    assert _first_line(port, request) == b"HTTP/1.1 200 OK\r\n"


def test_longer_headers_are_refused_clearly(port: int) -> None:
    refused = httpx.get(f"http://{LOOPBACK}:{port}/connectors", headers={"X-Long": "x" * MOST_BYTES}, timeout=30)
    assert (refused.status_code, refused.json()["error_code"]) == (431, 431)
    assert f"at most {MOST_BYTES}" in refused.json()["message"]
    assert httpx.get(f"http://{LOOPBACK}:{port}/health", timeout=30).status_code == 200


def test_health_is_answered_while_all_threads_are_busy(client: httpx.Client, plane: _SlowPlane) -> None:
    with ThreadPoolExecutor(BUSY) as callers:
        answers = [callers.submit(client.get, "/connectors/slow/config") for _ in range(BUSY)]
        for _ in range(30):
            assert plane.waiting.acquire(timeout=30)
        began = time.monotonic()
        assert client.get("/health", timeout=30).json()["status"] == "healthy"
        took_s = time.monotonic() - began
        plane.let_go.set()
        assert {answer.result().status_code for answer in answers} == {200}
    assert took_s < 25


def test_who_cannot_wait_for_a_thread_is_told_when_to_come_back(client: httpx.Client, plane: _SlowPlane) -> None:
    many = THREADS + WAITING + 20
    with ThreadPoolExecutor(many) as callers:
        answers = [callers.submit(client.get, "/connectors/slow/config") for _ in range(many)]
        refused = [answer.result() for answer in islice(as_completed(answers), 20)]
        assert {(answer.status_code, answer.headers["retry-after"]) for answer in refused} == {(503, "5")}
        assert f"{THREADS} requests are being answered" in refused[0].json()["message"]
        assert client.get("/health", timeout=30).status_code == 200
        assert client.get("/ui/", timeout=30).status_code == 200
        assert client.get("/own", timeout=30).json() == "answered"
        plane.let_go.set()
        assert sorted(answer.result().status_code for answer in answers) == [200] * (many - 20) + [503] * 20
