"""A small HTTP server that answers as it is told, and says what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.registry.client import SchemaRegistry
from airflow_kconnect.registry.keys import registry_config

Answer = tuple[int, Any]
"""Status and body: JSON, or bytes as they are."""
Client = Callable[..., SchemaRegistry]


@dataclass
class Server:
    """What it answers, in order; the last answer again and again."""

    url: str
    answers: list[Answer] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    @property
    def paths(self) -> list[str]:
        return [path for _, path, _ in self.asked]


@contextmanager
def _serving() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            made.bodies.append(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
            made.asked.append((self.command, self.path, dict(self.headers)))
            status, body = made.answers[0] if len(made.answers) == 1 else made.answers.pop(0)
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in made.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = _answer

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing on the terminal."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Server(f"http://127.0.0.1:{http.server_address[1]}")
    threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
    yield made
    http.shutdown()
    http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    with _serving() as made:
        yield made


@pytest.fixture
def oauth_server() -> Iterator[Server]:
    with _serving() as made:
        yield made


@pytest.fixture
def client(server: Server) -> Client:
    """A client of the server: `client(**keys)`, dots written as underscores."""

    def make(url: str | None = None, **keys: str) -> SchemaRegistry:
        given = {key.replace("_", "."): value for key, value in keys.items()}
        base = {"schema.registry.url": url or server.url, "retries.wait.ms": "0"}
        return SchemaRegistry(registry_config(ConfigDef()).parse(base | given), "value.converter.")

    return make
