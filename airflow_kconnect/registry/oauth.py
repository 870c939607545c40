"""Bearer tokens of an OAuth server: client credentials, as of Confluent's ``OauthCredentialProvider``."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from airflow_kconnect.connect.config import ConfigDef, Importance, Range, Type, Validator, invalid, nullable
from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.registry.guarded import NOT_HTTP, GuardedHttp, is_http

OAUTHBEARER = "OAUTHBEARER"
ENDPOINT, CLIENT_ID, CLIENT_SECRET = (
    "bearer.auth.issuer.endpoint.url",
    "bearer.auth.client.id",
    "bearer.auth.client.secret",
)
REQUIRED = (ENDPOINT, CLIENT_ID, CLIENT_SECRET)
_SCOPE, _BUFFER = "bearer.auth.scope", "bearer.auth.cache.expiry.buffer.seconds"

_TOKEN_TEXT = re.compile(r"[\x21-\x7e]+")
_UNAVAILABLE = frozenset({408, 429})
_REFUSED = frozenset({401, 403})
_OK, _BAD_REQUEST, _SERVER_ERROR = 200, 400, 500


def oauth_keys(config: ConfigDef) -> None:
    """Add the keys of OAuth."""
    for key, what, validator in (
        (ENDPOINT, "The URL at which the OAuth server issues tokens", nullable(_check_url)),
        (CLIENT_ID, "The client's name at that server", None),
        (_SCOPE, "The scope to ask for", None),
    ):
        _define(config, key, Type.STRING, None, f"{what}, for `{OAUTHBEARER}`.", validator)
    _define(config, CLIENT_SECRET, Type.PASSWORD, None, f"The client's secret at that server, for `{OAUTHBEARER}`.")
    _define(
        config,
        _BUFFER,
        Type.INT,
        300,
        "How long before it expires a token is replaced, in seconds; at most half of the time that it is valid.",
        Range.at_least(0),
    )
    for claim, default in (("scope", "scope"), ("sub", "sub")):
        config.define(
            f"bearer.auth.{claim}.claim.name",
            Type.STRING,
            default,
            Importance.LOW,
            f"The name of the claim {claim} in tokens.",
            without_effect="only the registry looks into tokens",
        )


def _define(
    config: ConfigDef, key: str, type: Type, default: Any, documentation: str, validator: Validator | None = None
) -> None:
    config.define(key, type, default, Importance.MEDIUM, documentation, validator=validator)


class OAuthTokens:
    """The token of a client, asked for when it is needed and kept until shortly before it expires.

    :param values: parsed values of `oauth_keys`.
    :param http: reaches the OAuth server.
    :param prefix: of the converter's keys in errors, such as ``value.converter.``.
    """

    def __init__(self, values: Mapping[str, Any], http: GuardedHttp, prefix: str) -> None:
        self._http, self._prefix = http, prefix
        self._url, self._client = str(values[ENDPOINT]), str(values[CLIENT_ID])
        self._secret = str(values[CLIENT_SECRET].value)
        form = {"grant_type": "client_credentials"} | ({"scope": values[_SCOPE]} if values[_SCOPE] else {})
        self._form = urlencode(form).encode()
        self._buffer_s: int = values[_BUFFER]
        self._token, self._good_until = "", 0.0

    def token(self) -> str:
        """The token; the server is asked if there is none, or if it soon expires.

        :raises RetriableError: the server is unavailable. :raises ConfigError: it refuses, or is not an OAuth server.
        """
        if not self._token or time.monotonic() >= self._good_until:
            answer, asked_at = self._ask(), time.monotonic()
            token = answer.get("access_token")
            if not isinstance(token, str) or not _TOKEN_TEXT.fullmatch(token):
                raise self._no_server("sends no `access_token`")
            valid_s = _valid_s(answer, token)
            self._token, self._good_until = token, asked_at + valid_s - min(self._buffer_s, valid_s / 2)
        return self._token

    def forget(self) -> None:
        """Ask for another token next time."""
        self._token = ""

    def _ask(self) -> dict[str, Any]:
        basic = base64.b64encode(f"{self._client}:{self._secret}".encode()).decode()
        headers = {
            "Authorization": f"Basic {basic}",
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        try:
            status, data = self._http.send("POST", self._url, headers, self._form)
        except RetriableError as error:
            raise RetriableError(f"The OAuth server is unavailable: {error}") from error
        answer = _object(data)
        problem = f"answers {status} {self._explained(answer)}".strip()
        if status >= _SERVER_ERROR or status in _UNAVAILABLE:
            raise RetriableError(f"The OAuth server is unavailable: {self._shown} {problem}")
        if status in _REFUSED or (status == _BAD_REQUEST and "error" in answer):
            key = self._prefix + (_SCOPE if answer.get("error") == "invalid_scope" else CLIENT_SECRET)
            raise ConfigError({key: [f"The OAuth server refuses client {self._client}: {self._shown} {problem}"]})
        if status != _OK:
            raise self._no_server(problem)
        return answer

    @property
    def _shown(self) -> str:
        return self._url.partition("?")[0]

    def _explained(self, answer: Mapping[str, Any]) -> str:
        """The server's own explanation, which may not repeat the secret."""
        texts = (answer.get(name) for name in ("error", "error_description"))
        explained = " ".join(" ".join(str(text).split()) for text in texts if text)
        return explained.replace(self._secret, "***")[:500]

    def _no_server(self, problem: str) -> ConfigError:
        text = f"{self._shown} does not answer as an OAuth server's token endpoint, it {problem}: check host and path"
        return ConfigError({self._prefix + ENDPOINT: [text]})


def _valid_s(answer: Mapping[str, Any], token: str) -> float:
    """How long a token is valid: as the server says, or the token itself if it is a JWT; else it is used once."""
    try:
        if "expires_in" in answer:
            return max(float(answer["expires_in"]), 0)
        payload = token.split(".")[1]
        expires = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["exp"]
        return max(float(expires) - time.time(), 0)
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        return 0


def _object(data: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _check_url(name: str, value: Any) -> None:
    if not is_http(value):
        raise invalid(name, "...", NOT_HTTP)
    if "@" in value.partition("//")[2].partition("/")[0]:
        raise invalid(name, "...", f"User and password belong into `{CLIENT_ID}` and `{CLIENT_SECRET}`")
