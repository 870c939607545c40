"""A YARN ResourceManager following its REST documentation: a real HTTP server with scripted answers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

APPLICATION = "application_1764000000000_0007"
LOG = "http://node-1:8042/node/containerlogs/container_1764000000000_0007_01_000001/etl"


class ResourceManager:
    """Its answers about each application, and the requests it received.

    :param answers: in order, the last one repeated forever: `RUNNING` or `FINISHED/SUCCEEDED` (state and final status),
        an HTTP code, or seconds to wait before the next one.
    """

    def __init__(self, answers: Sequence[str | int | float], diagnostics: str = "") -> None:
        self._answers = list(answers)
        self._diagnostics = diagnostics
        self.asked = 0
        self.killed: list[str] = []
        self.address = ""

    def answer(self, *answers: str | int | float, diagnostics: str = "") -> None:
        """Give this answer from now on."""
        self._answers, self._diagnostics = list(answers), diagnostics

    def next(self) -> tuple[int, dict[str, Any]]:
        """Code and body of the next answer."""
        self.asked += 1
        answer = self._take()
        while isinstance(answer, float):
            time.sleep(answer)
            answer = self._take()
        if isinstance(answer, int):
            return answer, {"RemoteException": {"exception": "NotFoundException", "message": "app is not found"}}
        state, _, final = answer.partition("/")
        app = {
            "id": APPLICATION,
            "state": state,
            "finalStatus": final or "UNDEFINED",
            "diagnostics": self._diagnostics,
            "trackingUrl": f"http://rm:8088/proxy/{APPLICATION}/",
            "amContainerLogs": LOG,
        }
        return HTTPStatus.OK, {"app": app}

    def kill(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Accept a kill request; from then on the application is killed."""
        assert body == {"state": "KILLED"}
        self.killed.append(path.split("/")[-2])
        self._answers = ["KILLED/KILLED"]
        return HTTPStatus.ACCEPTED, {"state": "RUNNING"}

    def _take(self) -> str | int | float:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


@contextmanager
def resource_manager(*answers: str | int | float, diagnostics: str = "") -> Iterator[ResourceManager]:
    """A ResourceManager on its own port."""
    manager = ResourceManager(answers, diagnostics)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(*manager.next())

        def do_PUT(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._reply(*manager.kill(self.path, body))

        def _reply(self, code: int, body: dict[str, Any]) -> None:
            payload = json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    manager.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield manager
    finally:
        server.shutdown()
        server.server_close()
