"""Keeps the tokens of Java's clients fresh, for `RunTokens.java`: they are those of the worker's provider."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import threading
import time
from collections.abc import Iterator, Mapping

from airflow_kconnect.connect.token_provider import Token
from airflow_kconnect.hosted.jvm.gateway import HostGateway, JavaEnded
from airflow_kconnect.kafka.logins.callback import TokenCallback, token_callback

CLASS = "airflow_kconnect.RunTokens"
"""The handler of logins that has them."""

_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
# Java asks for a new token when four fifths of the life of the last one are over, or five minutes before its end.
_PART, _LEAST_S, _RETRY_S = 0.4, 1.0, 10.0

log = logging.getLogger("kconnect.hosted")


def login_keys(worker: Mapping[str, str]) -> dict[str, str]:
    """How Java's clients log in with tokens of a worker's provider; nothing if it has none."""
    if (callback := token_callback(worker)) is None:
        return {}
    return {
        "security.protocol": worker.get("security.protocol", "SASL_SSL"),
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f'{_MODULE} required login="{_login(callback)}";',
        "sasl.login.callback.handler.class": CLASS,
    }


@contextlib.contextmanager
def tokens_for(jvm: HostGateway, worker: Mapping[str, str]) -> Iterator[None]:
    """The JVM has a token that is valid within this context, if the worker has a provider of tokens.

    :raises ConnectError: the provider gives none.
    """
    if (callback := token_callback(worker)) is None:
        yield
        return
    over = threading.Event()
    with contextlib.closing(jvm.another()) as own:  # a thread of its own needs a connection of its own
        token = callback.token()
        _put(own, callback, token)
        thread = threading.Thread(target=_renew, args=(own, callback, token, over), name="kconnect-tokens", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _renew(jvm: HostGateway, callback: TokenCallback, token: Token, over: threading.Event) -> None:
    wait_s = _wait_s(token)
    while not over.wait(wait_s):
        try:
            _put(jvm, callback, token := callback.token())
            wait_s = _wait_s(token)
        except JavaEnded:
            return
        except Exception as error:  # of the provider, or of the connection: Java has one that is still valid
            log.warning("no new token for Kafka yet: %s", error)
            wait_s = _RETRY_S


def _wait_s(token: Token) -> float:
    return max((token.expires_s - time.time()) * _PART, _LEAST_S)


def _put(jvm: HostGateway, callback: TokenCallback, token: Token) -> None:
    def put() -> None:
        extensions = jvm.text_map(token.extensions)
        expires_ms, principal = int(token.expires_s * 1000), token.principal or "airflow-kconnect"
        jvm.view.airflow_kconnect.RunTokens.put(_login(callback), token.value, expires_ms, principal, extensions)

    jvm.call("handing over a token", put)


def _login(callback: TokenCallback) -> str:
    """Under which name a JVM has the tokens: runs of several workers may share it."""
    return hashlib.sha256(repr((callback.name, callback.options)).encode()).hexdigest()[:16]
