"""An HTTP server in front of a store: it lets requests through, or fails them as a test says."""

from __future__ import annotations

import contextlib
import http.client
import random
import select
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from airflow_kconnect.local.ports import LOOPBACK

_HOP = {"connection", "transfer-encoding", "proxy-connection", "proxy-authorization", "content-length", "expect"}


@dataclass
class Exchange:
    """A request, and what is done with it.

    :param operation: Amazon's name of it, whichever store it is for.
    """

    handler: _Handler
    operation: str

    def body(self) -> bytes:
        """Of the request."""
        return self.handler.rfile.read(int(self.handler.headers.get("Content-Length") or 0))

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None, *, cut_at: int = -1) -> None:
        """:param cut_at: bytes after which the connection is closed."""
        handler = self.handler
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body if cut_at < 0 else body[:cut_at])
        handler.close_connection = handler.close_connection or cut_at >= 0

    def forward(self) -> tuple[int, bytes, dict[str, str]]:
        """The store's own answer."""
        handler, body = self.handler, self.body()
        target = urlsplit(handler.path)
        at = urlsplit(handler.server.store)
        connection = http.client.HTTPConnection(at.hostname or LOOPBACK, at.port, timeout=60)
        with contextlib.closing(connection):
            path = target.path + (f"?{target.query}" if target.query else "")
            connection.putrequest(handler.command, path, skip_host=True, skip_accept_encoding=True)
            for name, value in handler.headers.items():
                if name.lower() not in _HOP:
                    connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            found = connection.getresponse()
            headers = {name: value for name, value in found.getheaders() if name.lower() not in _HOP}
            if handler.command == "HEAD":
                handler.head_length = found.getheader("Content-Length")
            return found.status, found.read(), headers


Fault = Callable[[Exchange], None]


def refuse(status: int, code: str, message: str = "no") -> Fault:
    """An error in the form that all of these stores have."""

    def act(exchange: Exchange) -> None:
        exchange.body()
        exchange.answer(status, f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode())

    return act


def slow(seconds: float) -> Fault:
    """The right answer, late."""

    def act(exchange: Exchange) -> None:
        time.sleep(seconds)
        exchange.answer(*exchange.forward())

    return act


def delayed(by: Callable[[], object]) -> Fault:
    """The store gets the request when something else has happened."""

    def act(exchange: Exchange) -> None:
        by()
        exchange.answer(*exchange.forward())

    return act


def cut_request(exchange: Exchange) -> None:
    """The connection ends within the request."""
    size = int(exchange.handler.headers.get("Content-Length") or 0)
    exchange.handler.rfile.read(size // 2)
    exchange.handler.cut()


def cut_answer(exchange: Exchange) -> None:
    """The connection ends within the answer."""
    exchange.answer(*exchange.forward(), cut_at=3)
    exchange.handler.cut()


def lose_answer(exchange: Exchange) -> None:
    """The store does it, and no one is told."""
    exchange.forward()
    exchange.handler.cut()


def lagging() -> Fault:
    """The answer that a request had when it was first asked: a listing that does not show yet what has changed."""
    answers: dict[str, tuple[int, bytes, dict[str, str]]] = {}

    def act(exchange: Exchange) -> None:
        path = exchange.handler.path
        if path in answers:
            exchange.body()
        else:
            answers[path] = exchange.forward()
        exchange.answer(*answers[path])

    return act


def truncate(exchange: Exchange) -> None:
    """Fewer bytes than there are, as if they were all."""
    status, body, headers = exchange.forward()
    exchange.answer(status, body[:-1], headers)


def sometimes(share: float, rng: random.Random, struck: Callable[[], None]) -> Fault:
    """One of the faults that pass, for a share of the requests. :param struck: called for each of them."""
    faults = (refuse(503, "SlowDown"), refuse(500, "InternalError"), slow(0.5), cut_request, cut_answer, lose_answer)

    def act(exchange: Exchange) -> None:
        if rng.random() < share:
            struck()
            rng.choice(faults)(exchange)
        else:
            exchange.answer(*exchange.forward())

    return act


class FaultProxy:
    """Use as a context; it is the endpoint of a store, or a proxy for it.

    :param store: URL of the store. :param certificate, key: PEM; HTTPS if given.
    """

    def __init__(self, store: str, certificate: str = "", key: str = "") -> None:
        self._server = _Server((LOOPBACK, 0), _Handler)
        self._server.store, self._server.proxy = store, self
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(certificate + key)
                file.flush()
                context.load_cert_chain(file.name)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"http{'s' if certificate else ''}://{LOOPBACK}:{self._server.server_port}"
        self.seen: list[str] = []
        """Operations that were asked for, in their order."""
        self._faults: list[list[Any]] = []
        self._lock = threading.Lock()

    def __enter__(self) -> FaultProxy:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @contextlib.contextmanager
    def fault(self, operation: str, act: Fault, times: int = 1, after: int = 0) -> Iterator[None]:
        """:param operation: or `*`. :param times: of how many requests, after some that are answered as usual."""
        entry = [operation, act, times, after]
        with self._lock:
            self._faults.append(entry)
        try:
            yield
        finally:
            with self._lock:
                self._faults.remove(entry)

    def fault_of(self, operation: str) -> Fault | None:
        """What is to be done with a request."""
        with self._lock:
            self.seen.append(operation)
            for entry in self._faults:
                if entry[0] in (operation, "*"):
                    if entry[3]:
                        entry[3] -= 1
                    elif entry[2]:
                        entry[2] -= 1
                        act: Fault = entry[1]
                        return act
        return None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    store: str
    proxy: FaultProxy


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    head_length: str | None = None

    def handle_any(self) -> None:
        named = self.headers.get("X-Amz-Target", "").rpartition(".")[2]  # by APIs in JSON, such as Glue's
        exchange = Exchange(self, named or _operation(self.command, self.path, set(map(str.lower, self.headers))))
        act = self.server.proxy.fault_of(exchange.operation)
        if act is not None:
            act(exchange)
            return
        status, body, headers = exchange.forward()
        exchange.answer(status, body, headers)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any

    def do_CONNECT(self) -> None:
        """A tunnel, of an HTTP proxy."""
        self.server.proxy.fault_of("CONNECT")
        host, _, port = self.path.partition(":")
        with socket.create_connection((host, int(port)), timeout=60) as other:
            self.send_response(200)
            self.end_headers()
            ends = {self.connection: other, other: self.connection}
            while ready := select.select(list(ends), [], [], 60)[0]:
                for end in ready:
                    if not (data := end.recv(65536)):
                        self.close_connection = True
                        return
                    ends[end].sendall(data)

    def send_header(self, keyword: str, value: str) -> None:
        if keyword == "Content-Length" and self.head_length is not None:
            value, self.head_length = self.head_length, None
        super().send_header(keyword, value)

    def cut(self) -> None:
        """Reset the connection."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def handle(self) -> None:
        with contextlib.suppress(OSError):
            super().handle()

    def log_message(self, format: str, *args: Any) -> None: ...


_COPY = {"x-amz-copy-source", "x-goog-copy-source", "x-ms-copy-source"}
_AZURE = {
    "batch": "DeleteObject",
    "block": "UploadPart",
    "blocklist": "CompleteMultipartUpload",
    "list": "ListObjectsV2",
}


def _operation(method: str, path: str, headers: set[str]) -> str:
    if method == "POST" and urlsplit(path)[2:4] == ("/", ""):
        return "AssumeRole"
    if headers & _COPY:
        return "CopyObject"
    query = parse_qs(urlsplit(path).query, keep_blank_values=True)
    if of_azure := _AZURE.get(query.get("comp", [""])[0]):
        return of_azure
    part = next((name for name in ("uploads", "partNumber", "uploadId", "list-type") if name in query), "")
    names = {
        ("POST", "uploads"): "CreateMultipartUpload",
        ("GET", "uploads"): "ListMultipartUploads",
        ("PUT", "partNumber"): "UploadPart",
        ("POST", "uploadId"): "CompleteMultipartUpload",
        ("DELETE", "uploadId"): "AbortMultipartUpload",
        ("GET", "list-type"): "ListObjectsV2",
    }
    plain = {"GET": "GetObject", "HEAD": "HeadObject", "DELETE": "DeleteObject", "PUT": "PutObject"}
    return names.get((method, part), plain.get(method, method))


def ca_file(folder: Path, certificate: str) -> str:
    """A certificate as a file."""
    path = folder / "ca.pem"
    path.write_text(certificate)
    return str(path)
