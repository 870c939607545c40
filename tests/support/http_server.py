"""An HTTP server that answers as a test says, and remembers what it was asked."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple


@dataclass(frozen=True)
class Request:
    """What arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Answer(NamedTuple):
    """:param body: None: the number of the request. :param cut: whether only half of it is sent.
    :param after_s: how long it takes.
    """

    status: int = 200
    headers: dict[str, str] = {}
    body: bytes | None = None
    cut: bool = False
    after_s: float = 0.0


GivenAnswer = Answer | tuple[int, dict[str, str]]


@dataclass
class HttpServer:
    """:param answers: one after the other; after them, `answer`, or 200 with the number of the request."""

    url: str
    answers: list[GivenAnswer] = field(default_factory=list)
    answer: Callable[[Request], Answer] | None = None
    requests: list[Request] = field(default_factory=list)

    def next_answer(self, request: Request) -> Answer:
        self.requests.append(request)
        if self.answers:
            return Answer(*self.answers.pop(0))
        return self.answer(request) if self.answer else Answer()


@contextmanager
def http_server(
    *answers: GivenAnswer, answer: Callable[[Request], Answer] | None = None, certificate: Path | None = None
) -> Iterator[HttpServer]:
    """A server on the loopback address, for as long as the block.

    :param certificate: a PEM file with a certificate and its key, for https.
    """

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            given = found.next_answer(Request(self.command, self.path, dict(self.headers.items()), body))
            time.sleep(given.after_s)
            text = str(len(found.requests)).encode() if given.body is None else given.body
            with suppress(ConnectionError):  # the client may have given up
                self.send_response(given.status)
                for name, value in {"Content-Length": str(len(text)), **given.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text[: len(text) // 2] if given.cut else text)

        do_GET = do_POST = do_PUT = do_DELETE = _answer

        def log_message(self, *args: object) -> None:
            """Not on the output of tests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    scheme = "http" if certificate is None else "https"
    found = HttpServer(f"{scheme}://127.0.0.1:{server.server_port}", list(answers), answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
