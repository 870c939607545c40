"""A broker whose second listener wants tokens, and checks them as clouds do: see `CloudTokens.java`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from airflow_kconnect.local.broker import EmbeddedBroker
from tests.support.connect.java_plugins import compiled_plugin
from tests.support.logins.cloud import AUDIENCE, Cloud

_LISTENER = "listener.name.sasl.oauthbearer.sasl"
_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"


class TokenBroker(EmbeddedBroker):
    """:param data_dir: empty. :param cloud: what the broker asks whether keys and tokens are right.
    :param reauthentication_ms: how long a connection lives at most without a new token (KIP-368).
    """

    def __init__(self, data_dir: Path, cloud: Cloud, reauthentication_ms: int = 0) -> None:
        settings = {
            "sasl.enabled.mechanisms": "OAUTHBEARER",
            f"{_LISTENER}.jaas.config": f'{_MODULE} required cloud="{cloud.url}";',
            f"{_LISTENER}.server.callback.handler.class": "kconnect.tokens.CloudTokens",
            f"{_LISTENER}.login.callback.handler.class": "kconnect.tokens.CloudTokens",
            "sasl.oauthbearer.jwks.endpoint.url": f"{cloud.url}/keys",
            "sasl.oauthbearer.expected.audience": AUDIENCE,
            "listener.name.sasl.oauthbearer.connections.max.reauth.ms": str(reauthentication_ms),
        }
        super().__init__(data_dir / "data", sasl_users={"nobody": "x"}, settings=settings)
        self._classes = compiled_plugin(data_dir, "tokens", {}) / "tokens"
        self._allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={cloud.url}/keys"

    def _launch(self, command: Sequence[str], env: Mapping[str, str], timeout_s: float) -> None:
        java, *arguments = command
        path = arguments.index("-cp") + 1
        arguments[path] += f":{self._classes}/*"
        super()._launch([java, self._allowed, *arguments], env, timeout_s)
