"""A server that answers as a Connect worker would, with whatever a test wants it to say."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Answer = tuple[int, Any]

ROOT = {"version": "4.3.0", "commit": "x", "kafka_cluster_id": "kafka-1"}


@dataclass
class ConnectApi:
    """What it answers, and what it was asked.

    :param answers: "METHOD /path" -> answers; the last of them is repeated. A text is sent as it is.
    """

    url: str = ""
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    logins: list[str | None] = field(default_factory=list)

    def say(self, request: str, *answers: Answer) -> None:
        """Set the answers to a request."""
        self.answers[request] = list(answers)

    def answer(self, request: str) -> Answer:
        """The next answer to a request."""
        self.asked.append(request)
        left = self.answers.get(request, [(404, {"error_code": 404, "message": "HTTP 404 Not Found"})])
        return left.pop(0) if len(left) > 1 else left[0]

    def add(self, name: str, config: dict[str, str], kind: str = "source", state: str = "RUNNING") -> None:
        """Have a connector."""
        tasks = [] if state == "STOPPED" else [{"id": 0, "state": state}]
        info = {"name": name, "config": {**config, "name": name}, "tasks": [], "type": kind}
        status = {"name": name, "connector": {"state": state}, "tasks": tasks, "type": kind}
        expanded = self.answers.get("GET /connectors?expand=info&expand=status", [(200, {})])[0][1]
        expanded[name] = {"info": info, "status": status}
        self.say("GET /connectors?expand=info&expand=status", (200, expanded))
        self.say(f"GET /connectors/{name}", (200, info))
        self.say(f"GET /connectors/{name}/status", (200, status))


@contextmanager
def connect_api(tls: ssl.SSLContext | None = None) -> Iterator[ConnectApi]:
    """A running server without connectors."""
    api = ConnectApi()
    api.say("GET /", (200, ROOT))
    api.say("GET /connector-plugins", (200, []))
    api.say("GET /connectors?expand=info&expand=status", (200, {}))

    class Handler(BaseHTTPRequestHandler):
        def _reply(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            api.logins.append(self.headers.get("Authorization"))
            status, body = api.answer(f"{self.command} {self.path}")
            data = body.encode() if isinstance(body, str) else json.dumps(body).encode() if body is not None else b""
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if isinstance(body, str) else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PUT = do_PATCH = _reply

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    api.url = f"http{'s' if tls else ''}://127.0.0.1:{server.server_address[1]}"
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
