"""HTTP servers of tests in front of and next to a real schema registry."""

from __future__ import annotations

import json
import re
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

Reply = tuple[int, bytes]
Handle = Callable[[str, str, Mapping[str, str], bytes], Reply]
"""Called with method, path, headers and body of a request."""


@contextmanager
def serving(handle: Handle, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """A server that answers by `handle`; its URL."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, data = handle(self.command, self.path, dict(self.headers), body)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = _answer

        def handle(self) -> None:
            with suppress(OSError):  # a client that is not trusted, or does not trust
                super().handle()

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing on the terminal."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        # Without the handshake in the thread that accepts: a client that fails would stop it.
        http.socket = tls.wrap_socket(http.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{http.server_address[1]}"
    finally:
        http.shutdown()
        http.server_close()


def forward(registry_url: str, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
    """What the real registry answers."""
    sent = {name: headers[name] for name in ("Accept", "Content-Type") if name in headers}
    request = urllib.request.Request(registry_url + path, body or None, sent, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def reply(status: int, body: object) -> Reply:
    """An answer in JSON."""
    return status, json.dumps(body).encode()


_GUIDS = 0xC0FFEE << 64


def with_guids(registry_url: str) -> Handle:
    """The real registry with GUIDs, which Confluent's has: each id makes one."""

    def handle(method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        start, separator, guid = path.partition("/schemas/guids/")
        if separator:
            number = UUID(guid.partition("?")[0]).int - _GUIDS
            return forward(registry_url, method, f"{start}/schemas/ids/{number}", headers, body)
        status, data = forward(registry_url, method, path, headers, body)
        answer = json.loads(data) if status == 200 else None
        if not isinstance(answer, dict):
            return status, data
        if by_id := re.search(r"/schemas/ids/(\d+)", path):
            answer["id"] = int(by_id[1])
        guids = {"guid": str(UUID(int=_GUIDS + answer["id"]))} if "id" in answer else {}
        return reply(status, answer | guids)

    return handle
