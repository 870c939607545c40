"""Google's store for tests: moto's S3, by the names that Google has for the same headers (its XML API)."""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Iterable
from typing import Any

from airflow_kconnect.local.ports import LOOPBACK

_GOOGLE, _AMAZON = "x-goog-", "x-amz-"
_SIGNED = "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"


class GoogleServer:
    """A server in this process. Use `remove` when it is not needed any more."""

    def __init__(self) -> None:
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import make_server

        self._server: Any = make_server(
            LOOPBACK, 0, _translated(DomainDispatcherApplication(create_backend_app)), threaded=True
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
