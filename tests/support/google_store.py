"""Google's store for tests: moto's S3, by the names that Google has for the same headers (its XML API).

What S3 does not have are generations: each object that gets a name has another number than all before it, and a removal
may be for one of them only.
"""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Iterable
from itertools import count
from typing import Any
from urllib.parse import parse_qs

from airflow_kconnect.local.ports import LOOPBACK

_GOOGLE, _AMAZON = "x-goog-", "x-amz-"
_SIGNED = "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"


class GoogleServer:
    """A server in this process. Use `remove` when it is not needed any more."""

    def __init__(self) -> None:
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import make_server

        self._server: Any = make_server(
            LOOPBACK, 0, _Generations(_translated(DomainDispatcherApplication(create_backend_app))), threaded=True
        )
        self.url = f"http://{LOOPBACK}:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def create_bucket(self, name: str) -> str:
        """A new bucket."""
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/{name}", method="PUT"), timeout=30).close()
        return name

    def remove(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()


def _translated(application: Any) -> Any:
    prefix = f"HTTP_{_GOOGLE}".upper().replace("-", "_")

    def run(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        for name in [each for each in environ if each.startswith(prefix)]:
            environ[f"HTTP_X_AMZ_{name.removeprefix(prefix)}"] = environ.pop(name)
        environ["HTTP_AUTHORIZATION"] = _SIGNED

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            named = [(name.lower().replace(_AMAZON, _GOOGLE), value) for name, value in headers]
            return start_response(status, named, *more)

        answer: Iterable[bytes] = application(environ, start)
        return answer

    return run


class _Generations:
    """Numbers objects, and looks at the number before it lets one be removed."""

    def __init__(self, application: Any) -> None:
        self._application = application
        self._numbers = count(1)
        self._current: dict[str, int] = {}
        self._changing = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
            return self._shown(environ, start_response)
        with self._changing:
            return self._changed(environ, start_response)

    def _shown(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        current = self._current.get(environ["PATH_INFO"])
        own = [] if current is None else [("x-goog-generation", str(current))]
        answer: Iterable[bytes] = self._application(
            environ, lambda status, headers, *more: start_response(status, [*headers, *own], *more)
        )
        return answer

    def _changed(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        wanted = environ.pop("HTTP_X_GOOG_IF_GENERATION_MATCH", None)
        if wanted not in (None, str(self._current.get(path, 0))):
            start_response("412 Precondition Failed", [("Content-Type", "application/xml")])
            return [b"<Error><Code>PreconditionFailed</Code></Error>"]
        # The parts of an upload are no object before its end.
        query = parse_qs(environ["QUERY_STRING"], keep_blank_values=True)
        gets_name = "uploads" not in query and (method, "uploadId" in query) in (("PUT", False), ("POST", True))

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            if status.startswith("2"):
                if gets_name:
                    self._current[path] = next(self._numbers)
                elif method == "DELETE" and "uploadId" not in query:
                    self._current.pop(path, None)
            return start_response(status, headers, *more)

        answer: Iterable[bytes] = self._application(environ, start)
        return answer
