"""An HTTP server that answers as a test says, and remembers what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = tuple[int, dict[str, str]]


@dataclass(frozen=True)
class Request:
    """What arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class HttpServer:
    """:param answers: statuses and headers, one after the other; after them, 200 with the number of the request."""

    url: str
    answers: list[Answer] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)


@contextmanager
def http_server(*answers: Answer) -> Iterator[HttpServer]:
    """A server on the loopback address, for as long as the block."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            found.requests.append(Request(self.command, self.path, dict(self.headers.items()), body))
            status, headers = found.answers.pop(0) if found.answers else (200, {})
            text = str(len(found.requests)).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(text))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PUT = do_DELETE = _answer

        def log_message(self, *args: object) -> None:
            """Not on the output of tests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = HttpServer(f"http://127.0.0.1:{server.server_port}", list(answers))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
