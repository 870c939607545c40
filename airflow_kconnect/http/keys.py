"""How to connect, log in and try again: keys of both HTTP connectors, with names and defaults of Aiven's HTTP sink."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from airflow_kconnect.connect.config import (
    ConfigDef,
    Importance,
    LambdaValidator,
    NonEmptyString,
    Password,
    Range,
    Type,
    Validator,
    ValidString,
    all_of,
    invalid,
    nullable,
)
from airflow_kconnect.connectors.visibility import ShownWith
from airflow_kconnect.credentials.java_stores import JKS, TYPES
from airflow_kconnect.registry.guarded import NOT_HTTP, is_http
from airflow_kconnect.validation.connector_keys import KCONNECT

LOGIN, STATIC_HEADER = "http.authorization.type", "http.headers.authorization"
CONTENT_TYPE, MORE_HEADERS = "http.headers.content.type", "http.headers.additional"
NONE, STATIC, BASIC, API_KEY, OAUTH2 = "none", "static", "basic", "apikey", "oauth2"
USER, PASSWORD = "kconnect.http.user", "kconnect.http.password"
API_KEY_HEADER, API_KEY_VALUE = "kconnect.http.api.key.header", "kconnect.http.api.key"
TOKEN_URL, CLIENT_ID, CLIENT_SECRET = "oauth2.access.token.url", "oauth2.client.id", "oauth2.client.secret"
SCOPE, CREDENTIALS_IN = "oauth2.client.scope", "oauth2.client.authorization.mode"
GRANT, GRANT_NAME = "oauth2.grant.type", "oauth2.request.grant.type.property"
CLIENT_ID_NAME, CLIENT_SECRET_NAME = "oauth2.request.client.id.property", "oauth2.request.client.secret.property"
TOKEN_NAME, RENEW_ON = "oauth2.response.token.property", "oauth2.token.renew.on.status.codes"
PROXY_HOST, PROXY_PORT = "http.proxy.host", "http.proxy.port"
TRUST_ALL, TRUSTSTORE = "http.ssl.trust.all.certs", "http.ssl.truststore."
TIMEOUT, MAX_RETRIES, BACKOFF = "http.timeout", "max.retries", "retry.backoff.ms"

_NEEDED: Mapping[str, tuple[str, ...]] = {
    NONE: (),
    STATIC: (STATIC_HEADER,),
    BASIC: (USER, PASSWORD),
    API_KEY: (API_KEY_VALUE,),
    OAUTH2: (TOKEN_URL, CLIENT_ID, CLIENT_SECRET),
}
_HIGH, _MEDIUM, _LOW = Importance
_OF_LOGINS: Mapping[str, tuple[str, ...]] = {
    STATIC: (STATIC_HEADER,),
    BASIC: (USER, PASSWORD),
    API_KEY: (API_KEY_VALUE,),
    OAUTH2: ("oauth2.",),
}
_TEXT = NonEmptyString()
_NAME, _VALUE = r"[\w!#$%&'*+.^`|~-]+", r"(?:[!-~](?:[\t -~]*[!-~])?)?"
"""Of a header: what else is in them is not sent, and would be quoted in an error."""


def headers_of(text: Password | None) -> dict[str, str]:
    """The headers of a list of ``name:value``."""
    entries = re.split(r"\s*,\s*", text.value.strip()) if text is not None and text.value.strip() else []
    return {name.strip(): value.strip() for name, _, value in (entry.partition(":") for entry in entries)}


def _headers_problem(name: str, value: Password) -> str | None:
    """Never quotes them: they may have secrets."""
    entries = re.split(r"\s*,\s*", value.value.strip()) if value.value.strip() else []
    if any(not re.fullmatch(rf"{_NAME}\s*:\s*{_VALUE}", entry, re.ASCII) for entry in entries):
        return "Must be a list of name:value, separated by commas, in printable ASCII characters"
    same = len({entry.partition(":")[0].strip().lower() for entry in entries}) < len(entries)
    return "Each header may be there only once" if same else None


def _value_problem(name: str, value: Password | str) -> str | None:
    """Never quotes it."""
    fits = re.fullmatch(_VALUE, value.value if isinstance(value, Password) else value)
    return None if fits else "Must be printable ASCII characters on one line, as it is sent in a header"


def _name_problem(name: str, value: str) -> str | None:
    fits = re.fullmatch(rf"(?:{_NAME})?", value, re.ASCII)
    return None if fits else "Must be the name of a header, such as X-API-Key"


def _check_url(name: str, value: str) -> None:
    """Never quotes it: it may have a login, or a key."""
    if not is_http(value) or not value.isprintable():
        raise invalid(name, "...", NOT_HTTP)


def _codes_problem(name: str, value: list[str]) -> str | None:
    return None if all(re.fullmatch(r"\d{3}", code) for code in value) else "Must be a list of statuses such as 401"


URL: Validator = _check_url
HEADER_NAME: Validator = LambdaValidator(_name_problem)
_HEADER_VALUE: Validator = nullable(LambdaValidator(_value_problem))


def define_connection(config: ConfigDef, *, retries: int) -> ConfigDef:
    """Add the keys. :param retries: the default of `max.retries`."""
    _define_transport(_define_oauth2(_define_login(config)), retries)
    for login, prefixes in _OF_LOGINS.items():
        show_with(config, LOGIN, login.__eq__, *prefixes)
    return config


def show_with(config: ConfigDef, key: str, uses: Callable[[str], bool], *prefixes: str) -> ConfigDef:
    """Have forms show the keys with these prefixes only with certain values of another one."""
    for name in config.keys:
        if name.startswith(prefixes):
            config.keys[name] = replace(config.keys[name], recommender=ShownWith(key, uses))
    return config


def _define_login(config: ConfigDef) -> ConfigDef:
    return (
        config.define(LOGIN, Type.STRING, NONE, _HIGH,
                      f"`{STATIC}`: by the header in `{STATIC_HEADER}`; `{BASIC}`: by user and password; `{API_KEY}`: "
                      f"by a header of its own; `{OAUTH2}`: by a token of an OAuth server (client credentials).",
                      validator=ValidString.in_case_insensitive(NONE, STATIC, BASIC, API_KEY, OAUTH2))
        .define(STATIC_HEADER, Type.PASSWORD, None, _MEDIUM,
                f"What the header `Authorization` says with `{STATIC}`, such as `Bearer ...`.",
                validator=_HEADER_VALUE)
        .define(USER, Type.STRING, None, _MEDIUM, f"The user, with `{BASIC}`.", group=KCONNECT)
        .define(PASSWORD, Type.PASSWORD, None, _MEDIUM, f"The user's password, with `{BASIC}`.", group=KCONNECT)
        .define(API_KEY_HEADER, Type.STRING, "X-API-Key", _MEDIUM, f"The header for the key, with `{API_KEY}`.",
                group=KCONNECT, validator=all_of(_TEXT, HEADER_NAME))
        .define(API_KEY_VALUE, Type.PASSWORD, None, _MEDIUM, f"The key, with `{API_KEY}`.", group=KCONNECT,
                validator=_HEADER_VALUE)
        .define(CONTENT_TYPE, Type.STRING, None, _LOW, "What the header `Content-Type` of each request says.",
                validator=all_of(_TEXT, _HEADER_VALUE), example="application/json")
        .define(MORE_HEADERS, Type.PASSWORD, None, _LOW,
                "More headers of each request: a list of name:value, separated by commas. It is hidden like a "
                "password, since such headers often have secrets.",
                validator=nullable(LambdaValidator(_headers_problem)))
    )  # fmt: skip


def _define_oauth2(config: ConfigDef) -> ConfigDef:
    return (
        config.define(TOKEN_URL, Type.STRING, None, _HIGH, "Where the OAuth server issues tokens.",
                      validator=nullable(URL))
        .define(CLIENT_ID, Type.STRING, None, _HIGH, "The client's id at the OAuth server.", validator=_TEXT)
        .define(CLIENT_SECRET, Type.PASSWORD, None, _HIGH, "The client's secret.")
        .define(SCOPE, Type.STRING, None, _LOW, "The scope to ask for.", validator=_TEXT)
        .define(CREDENTIALS_IN, Type.STRING, "HEADER", _MEDIUM,
                "Whether id and secret are sent as a header (Basic) or, with `URL`, in the form that asks for a token.",
                validator=ValidString.in_case_insensitive("HEADER", "URL"))
        .define(GRANT, Type.STRING, "client_credentials", _LOW, "The grant type to ask for.", validator=_TEXT)
        .define(GRANT_NAME, Type.STRING, "grant_type", _LOW, "What the form calls the grant type.", validator=_TEXT)
        .define(CLIENT_ID_NAME, Type.STRING, "client_id", _LOW, "What the form calls the id.", validator=_TEXT)
        .define(CLIENT_SECRET_NAME, Type.STRING, "client_secret", _LOW, "What the form calls the secret.",
                validator=_TEXT)
        .define(TOKEN_NAME, Type.STRING, "access_token", _LOW, "What the server's answer calls the token.",
                validator=_TEXT)
        .define(RENEW_ON, Type.LIST, ["401"], _LOW,
                "With these statuses a token has expired: another one is asked for, once for each request.",
                validator=LambdaValidator(_codes_problem))
    )  # fmt: skip


def _define_transport(config: ConfigDef, retries: int) -> ConfigDef:
    return (
        config.define(MAX_RETRIES, Type.INT, retries, _MEDIUM,
                      "How often a request is sent again if the server is busy (408, 425, 429), fails (5xx), or cannot "
                      "be reached. After that the run ends with exit code 3.", validator=Range.at_least(0))
        .define(BACKOFF, Type.INT, 3000, _MEDIUM,
                "Milliseconds before the first time that it is sent again, then twice as long each time, up to 30 s. A "
                "server that says when to try again is asked then.", validator=Range.at_least(0))
        .define(TIMEOUT, Type.INT, 30, _LOW, "Seconds to wait for an answer.", validator=Range.at_least(1))
        .define(PROXY_HOST, Type.STRING, None, _LOW,
                "The host of an HTTP proxy. Without it the environment's `HTTPS_PROXY` and the like count.",
                validator=_TEXT)
        .define(PROXY_PORT, Type.INT, -1, _LOW, "The proxy's port.", validator=Range.between(-1, 65535))
        .define(TRUST_ALL, Type.BOOLEAN, False, _LOW, "Whether any certificate is accepted: only for tests.")
        .define(f"{TRUSTSTORE}location", Type.STRING, None, _LOW,
                "A file with the certificates of the authorities to trust, in place of the system's.", validator=_TEXT)
        .define(f"{TRUSTSTORE}password", Type.PASSWORD, None, _LOW, "The password of that file; not for PEM.")
        .define(f"{TRUSTSTORE}type", Type.STRING, JKS, _LOW,
                "The format of that file: JKS, PKCS12 or PEM. JKS needs Java's keytool.",
                validator=ValidString.in_case_insensitive(*TYPES))
    )  # fmt: skip


def connection_problems(values: Mapping[str, Any]) -> dict[str, list[str]]:
    """What is wrong with the keys as a whole: key -> messages. :param values: parsed."""
    login = values[LOGIN].lower()
    wanted = _NEEDED[login]
    problems = {key: [f"must be set with `{LOGIN}` {login}"] for key in wanted if not _is_set(values[key])}
    if _is_set(values[STATIC_HEADER]) and login != STATIC:
        problems[STATIC_HEADER] = [f"must not be set unless `{LOGIN}` is {STATIC}, and it is {login}"]
    if (values[PROXY_HOST] is None) != (values[PROXY_PORT] < 1):
        problems[PROXY_HOST] = [f"must be set together with `{PROXY_PORT}`"]
    return problems


def connection_warnings(values: Mapping[str, Any]) -> list[str]:
    """What may not be what the user wants."""
    return [f"`{TRUST_ALL}` is true: anyone on the way may read and change what is sent"] if values[TRUST_ALL] else []


def _is_set(value: Any) -> bool:
    return bool(value.value.strip() if isinstance(value, Password) else value)
