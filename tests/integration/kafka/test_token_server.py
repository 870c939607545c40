"""OAUTHBEARER with a real token server that refuses or does not run: what is said, and what is not."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs

ANSWER = b'{"error": "invalid_client", "AccessKeyId": "canary-of-the-answer"}'


class _Refuses(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, *_: object) -> None:
        """The test's output is not the place for it."""


@pytest.fixture
def refusing() -> Iterator[str]:
    """The URL of a server that gives no one a token."""
    server = HTTPServer(("127.0.0.1", 0), _Refuses)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/token"
    server.shutdown()
    server.server_close()
    thread.join()


def error_with(url: str, bootstrap: str) -> str:
    worker = {
        "bootstrap.servers": bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": url,
        "sasl.oauthbearer.client.id": "kconnect",
        "sasl.oauthbearer.client.secret": "client-secret",
    }
    with pytest.raises(RetriableError) as caught:
        KafkaAdmin(ClientConfigs(worker).admin(), timeout_s=2.0).check_reachable()
    return str(caught.value)


def test_its_answer_is_not_in_the_error(bootstrap: str, refusing: str) -> None:
    text = error_with(refusing, bootstrap)
    assert "canary-of-the-answer" not in text
    assert "the token server has refused (its answer is not shown); check that the token server runs" in text


def test_one_that_does_not_run_is_an_error_that_may_pass(bootstrap: str) -> None:
    assert "Failed to connect to 127.0.0.1" in error_with("http://127.0.0.1:1/token", bootstrap)
