"""How a client proves to a schema registry who it is: keys, their rules, and the headers of requests."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from airflow_kconnect.connect.config import ConfigDef, Importance, Password, Type, ValidString
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.registry.guarded import GuardedHttp
from airflow_kconnect.registry.oauth import CLIENT_ID, OAUTHBEARER, REQUIRED, OAuthTokens, oauth_keys

URL, USER_INFO = "URL", "USER_INFO"
STATIC_TOKEN = "STATIC_TOKEN"

_SOURCE, _USER, _OLDER_USER = (
    "basic.auth.credentials.source",
    "basic.auth.user.info",
    "schema.registry.basic.auth.user.info",
)
_BEARER, _TOKEN = "bearer.auth.credentials.source", "bearer.auth.token"
_HEADERS = {
    "bearer.auth.logical.cluster": "target-sr-cluster",
    "bearer.auth.identity.pool.id": "Confluent-Identity-Pool-Id",
}
_HEADER_TEXT = re.compile(r"[\x21-\x7e]+")


def authentication_keys(config: ConfigDef) -> None:
    """Add the keys of authentication; `check_authentication` has the rules among them."""
    config.define(
        _SOURCE,
        Type.STRING,
        URL,
        Importance.MEDIUM,
        f"Where user and password are: in `schema.registry.url` (URL), or in `{_USER}` (USER_INFO).",
        validator=ValidString.in_(URL, USER_INFO),
    )
    config.define(
        _USER,
        Type.PASSWORD,
        "",
        Importance.MEDIUM,
        f"`user:password`, for `{_SOURCE}=USER_INFO`.",
    )
    config.define(
        _OLDER_USER,
        Type.PASSWORD,
        "",
        Importance.MEDIUM,
        f"An older name of `{_USER}`; it goes first.",
    )
    config.define(
        _BEARER,
        Type.STRING,
        STATIC_TOKEN,
        Importance.MEDIUM,
        f"Where the bearer token is: in `{_TOKEN}` (STATIC_TOKEN), or at an OAuth server ({OAUTHBEARER}).",
        validator=ValidString.in_(STATIC_TOKEN, OAUTHBEARER),
    )
    config.define(_TOKEN, Type.PASSWORD, "", Importance.MEDIUM, "The bearer token.")
    oauth_keys(config)
    for key, header in _HEADERS.items():
        config.define(
            key, Type.STRING, None, Importance.MEDIUM, f"Sent as the header `{header}` with each bearer token."
        )


def check_authentication(values: Mapping[str, Any]) -> None:
    """The rules among the keys of authentication.

    :param values: parsed values of `authentication_keys`.
    :raises ConfigError: with all that is wrong.
    """
    errors: dict[str, list[str]] = {}
    oauth, user_info = values[_BEARER] == OAUTHBEARER, values[_SOURCE] == USER_INFO
    token = _text(values, _TOKEN)
    if user_info:
        key, given = _user_info(values)
        if not given:
            errors[key] = [f"must be provided with `{_SOURCE}=USER_INFO`: `user:password`"]
        elif ":" not in given:
            errors[key] = [f"must be `user:password` with `{_SOURCE}=USER_INFO`"]
    if oauth:
        missing = (key for key in REQUIRED if not _text(values, key))
        errors |= {key: [f"must be provided with `{_BEARER}={OAUTHBEARER}`"] for key in missing}
    if user_info and (oauth or token):
        key = _BEARER if oauth else _TOKEN
        errors.setdefault(key, []).append(f"only one of it and `{_SOURCE}=USER_INFO` can be used: remove the other")
    for key in (_TOKEN, *_HEADERS):
        if (text := _text(values, key)) and not _HEADER_TEXT.fullmatch(text):
            errors.setdefault(key, []).append("has a space, a line break or another character that cannot be sent")
    if errors:
        raise ConfigError(errors)


class Credentials(Protocol):
    """What proves to a registry who asks."""

    key: str
    """The configuration key to look at if the registry refuses them."""

    def headers(self, url: int) -> dict[str, str]:
        """The headers for a request to one of the registry's URLs.

        :raises RetriableError: a server that has to be asked for them is unavailable.
        :raises ConfigError: it refuses.
        """

    def renew(self) -> bool:
        """Called when the registry has refused them: whether it is worth asking again."""


def credentials(values: Mapping[str, Any], oauth_http: GuardedHttp, prefix: str) -> Credentials:
    """What the keys say, which `check_authentication` has found right.

    :param oauth_http: reaches an OAuth server.
    :param prefix: of the converter's keys in errors, such as ``value.converter.``.
    """
    with_token = {header: text for key, header in _HEADERS.items() if (text := _text(values, key))}
    urls = values["schema.registry.url"]
    if values[_BEARER] == OAUTHBEARER:
        return _OAuth(OAuthTokens(values, oauth_http, prefix), with_token)
    if token := _text(values, _TOKEN):
        return _Fixed(_TOKEN, [_bearer(token) | with_token] * len(urls))
    if values[_SOURCE] == USER_INFO:
        key, given = _user_info(values)
        return _Fixed(key, [_basic(given)] * len(urls))
    return _Fixed(_USER, [_of_url(url) for url in urls])


class _Fixed:
    """Credentials that stay as they are."""

    def __init__(self, key: str, of_urls: Sequence[dict[str, str]]) -> None:
        self.key, self._of_urls = key, of_urls

    def headers(self, url: int) -> dict[str, str]:
        return self._of_urls[url]

    def renew(self) -> bool:
        return False


class _OAuth:
    """A token that an OAuth server issues."""

    key = CLIENT_ID

    def __init__(self, tokens: OAuthTokens, with_token: Mapping[str, str]) -> None:
        self._tokens, self._with_token = tokens, with_token

    def headers(self, url: int) -> dict[str, str]:
        return {**_bearer(self._tokens.token()), **self._with_token}

    def renew(self) -> bool:
        self._tokens.forget()
        return True


def _user_info(values: Mapping[str, Any]) -> tuple[str, str]:
    """The key that counts and its value (``UserInfoCredentialProvider``)."""
    older = _text(values, _OLDER_USER)
    return (_OLDER_USER, older) if older else (_USER, _text(values, _USER))


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values[key]
    return str((value.value if isinstance(value, Password) else value) or "")


def _of_url(url: str) -> dict[str, str]:
    """Those of one URL are sent to no other."""
    given, at, _ = urlsplit(url).netloc.rpartition("@")
    user, _, password = given.partition(":")
    return _basic(f"{unquote(user)}:{unquote(password)}") if at else {}


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _basic(user_info: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(user_info.encode()).decode()}
