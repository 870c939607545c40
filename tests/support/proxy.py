"""A proxy of https that leads all hosts to one server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from urllib.parse import urlsplit

from airflow_kconnect.local.ports import LOOPBACK


@contextmanager
def proxy_to(url: str) -> Iterator[str]:
    """The proxy's address, for as long as the block. :param url: of the server."""

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            while self.rfile.readline().strip():  # CONNECT, and its headers
                pass
            with socket.create_connection((LOOPBACK, urlsplit(url).port or 443)) as there:
                self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=_copy, args=(there, self.connection), daemon=True)
                back.start()
                _copy(self.connection, there)
                back.join()

    with ThreadingTCPServer((LOOPBACK, 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://{LOOPBACK}:{server.server_address[1]}"
        finally:
            server.shutdown()


def _copy(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while found := one.recv(65536):
            other.sendall(found)
        other.shutdown(socket.SHUT_WR)
