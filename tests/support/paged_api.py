"""A REST API of numbered orders in pages, on a thread of the test: it can be slow, fail, and hold a page back."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class PagedApi:
    """`GET /orders?since=3&page=0`: orders from id 3 on, by ascending id, and the address of the next page.

    :ivar count: how many orders there are. :ivar page: how many are on a page. :ivar pause_s: before each answer.
    :ivar held_from: pages with orders from this id on wait for `release`. :ivar failures: how many answers are 503.
    """

    def __init__(self) -> None:
        self.count, self.page, self.pause_s, self.failures = 0, 10, 0.0, 0
        self.held_from: int | None = None
        self.release = threading.Event()
        self.token = "hush"
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def serving(self) -> Iterator[PagedApi]:
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.release.set()
            self._server.shutdown()
            self._server.server_close()

    def answer(self, since: int, page: int) -> dict[str, Any]:
        first = since + page * self.page
        ids = range(first, min(first + self.page, self.count))
        orders = [{"id": n, "amount": f"{n}.50"} for n in ids]
        if self.held_from is not None and ids and ids[-1] >= self.held_from:
            self.release.wait(60)
        more = first + self.page < self.count
        return {"data": orders, "next": f"{self.url}/orders?since={since}&page={page + 1}" if more else None}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                time.sleep(api.pause_s)
                asked = {name: int(texts[0]) for name, texts in parse_qs(urlsplit(self.path).query).items()}
                if self.headers.get("Authorization") != f"Bearer {api.token}":
                    self._send(401, {"message": "no"})
                elif api.failures:
                    api.failures -= 1
                    self._send(503, {"message": "later"})
                else:
                    self._send(200, api.answer(asked.get("since", 0), asked.get("page", 0)))

            def _send(self, status: int, body: dict[str, Any]) -> None:
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """Not to the test's output."""

        return Handler


def api_config(api: PagedApi) -> dict[str, Any]:
    """dlt's declarative configuration for it."""
    return {
        "client": {
            "base_url": api.url,
            "auth": {"type": "bearer", "token": "${env:KCONNECT_API_TOKEN}"},
            "paginator": {"type": "json_link", "next_url_path": "next"},
        },
        "resources": [
            {
                "name": "orders",
                "primary_key": "id",
                "endpoint": {
                    "path": "orders",
                    "data_selector": "data",
                    "incremental": {
                        "start_param": "since", "cursor_path": "id", "initial_value": 0, "row_order": "asc",
                    },
                },
            }
        ],
    }  # fmt: skip
