"""How Kafka clients get their tokens: a callback that is a name and options, so that it reaches executors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import Any

import confluent_kafka
from packaging.version import Version

from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError
from airflow_kconnect.connect.token_provider import Token, TokenProvider
from airflow_kconnect.worker_config.oauth_keys import OWN, PREFIX, PROVIDER, installed, options_of

_CLIENT = "2.13"
"""confluent-kafka calls back without being polled since then: requests of admin clients waited forever before."""

_failures: dict[int, ConnectError] = {}


@dataclass(frozen=True)
class TokenCallback:
    """What confluent-kafka calls for a token (`oauth_cb`). It can be pickled.

    :param name: of the provider. :param options: its own, as pairs.
    """

    name: str
    options: tuple[tuple[str, str], ...] = field(repr=False)

    def __call__(self, _: Any) -> tuple[str, float, str, dict[str, str]]:
        """A token as confluent-kafka wants it. It does not tell why there is none: `last_failure` does."""
        token = self.token()
        return token.value, token.expires_s, token.principal, dict(token.extensions)

    def token(self) -> Token:
        """A token. :raises ConnectError: there is none, and why."""
        try:
            token = _provider(self, os.getpid()).token()
        except Exception as error:
            failure = _named(self.name, error)
            _failures[os.getpid()] = failure
            raise failure from error
        _failures.clear()
        return token


def token_config(worker: Mapping[str, str]) -> dict[str, Any]:
    """What a worker's provider of tokens adds to the configuration of a client; nothing if there is none.

    :raises ConfigError: confluent-kafka is too old for it. :raises ConnectError: the provider gives no token.
    """
    if (callback := token_callback(worker)) is None:
        return {}
    if Version(confluent_kafka.__version__) < Version(_CLIENT):
        text = f"needs confluent-kafka {_CLIENT}; this is {confluent_kafka.__version__}: upgrade it"
        raise ConfigError({PROVIDER: [text]})
    _prove(callback, os.getpid())
    login = {"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER"}
    return {**login, "oauth_cb": callback}


def token_callback(worker: Mapping[str, str]) -> TokenCallback | None:
    """The callback of a worker's provider of tokens; None if it has none."""
    name = worker.get(PROVIDER, "").strip()
    return TokenCallback(name, tuple(sorted(options_of(name, worker).items()))) if name else None


def last_failure() -> ConnectError | None:
    """Why this process has got no token when it last asked for one."""
    return _failures.get(os.getpid())


@lru_cache(maxsize=8)
def _prove(callback: TokenCallback, process: int) -> None:
    """Once: a client that gets no token waits ten seconds, and does not say why."""
    callback.token()


@lru_cache(maxsize=8)
def _provider(callback: TokenCallback, process: int) -> TokenProvider:
    """A fork has its own: connections and locks of its parent are of no use to it."""
    options = dict(callback.options)
    if callback.name in OWN:
        module, _, name = OWN[callback.name].partition(":")
        provider: type[TokenProvider] = getattr(import_module(module), name)
    else:
        provider = _of_others(callback.name)
    try:
        return provider(options)
    except ConfigError as error:
        raise ConfigError({_full(callback.name, key): texts for key, texts in error.errors.items()}) from error


def _of_others(name: str) -> type[TokenProvider]:
    if (entry_point := installed().get(name)) is None:
        text = f"is {name}, which no package on this machine has: install it wherever there are Kafka clients"
        raise ConfigError({PROVIDER: [text]})
    provider: type[TokenProvider] = entry_point.load()
    return provider


def _full(name: str, key: str) -> str:
    return key if key.startswith(PREFIX) else f"{PREFIX}{name}.{key}"


def _named(name: str, error: Exception) -> ConnectError:
    if isinstance(error, ConnectError):
        return error
    return RetriableError(f"`{PROVIDER}` {name} gave no token: {type(error).__name__}: {error}")
