"""A client of HTTP by the keys of a configuration: login, certificates, proxy, retries."""

from __future__ import annotations

import base64
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any

import httpx

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.credentials.java_stores import Store
from airflow_kconnect.functions.http import AnswerError, http_client
from airflow_kconnect.http import keys
from airflow_kconnect.registry.guarded import Guard
from airflow_kconnect.registry.tls import trusting
from airflow_kconnect.variables.secret_forms import secret_forms

if TYPE_CHECKING:
    import ssl

_EXPLANATION_MAX = 300
_REDIRECTS = range(300, 400)
# What the receiver says about the connector, whatever is sent.
_ABOUT_KEYS: Mapping[int, str] = {401: keys.LOGIN, 403: keys.LOGIN, 407: keys.PROXY_HOST}


def open_client(values: Mapping[str, Any], url_key: str) -> httpx.Client:
    """A client that tries again, whatever the method. It sends nothing to addresses that a `Guard` refuses.

    :param values: parsed values of `define_connection`. :param url_key: of what is asked; for errors.
    :raises ConfigError: certificates cannot be used.
    """
    own = keys.headers_of(values[keys.MORE_HEADERS])
    if values[keys.CONTENT_TYPE]:
        own["Content-Type"] = values[keys.CONTENT_TYPE]
    common = _common(values)
    login: httpx.Auth | None = None
    match values[keys.LOGIN].lower():
        case keys.STATIC:
            own["Authorization"] = values[keys.STATIC_HEADER].value
        case keys.BASIC:
            login = httpx.BasicAuth(values[keys.USER], values[keys.PASSWORD].value)
        case keys.API_KEY:
            own[values[keys.API_KEY_HEADER]] = values[keys.API_KEY_VALUE].value
        case keys.OAUTH2:
            login = _OAuth2(values, http_client(**common, **_guarded(keys.TOKEN_URL)))
    return http_client(**common, **_guarded(url_key), headers=own, auth=login)


def secrets_of(values: Mapping[str, Any]) -> list[str]:
    """What must not be in a text about an answer, which may repeat what was sent."""
    texts = [keys.headers_of(values[keys.MORE_HEADERS]).values()]
    given = [values[key] for key in (keys.STATIC_HEADER, keys.PASSWORD, keys.API_KEY_VALUE, keys.CLIENT_SECRET)]
    return [text for text in (*texts[0], *(each.value for each in given if each)) if text]


def explained(error: AnswerError, secrets: list[str]) -> str:
    """The error, and in one line the beginning of what the server says about it."""
    if error.response is None:
        return str(error)
    said = " ".join(error.response.text.split())
    login = error.response.request.headers.get("Authorization", "")  # encoded, or a token
    sent = [text for text in (*secrets, login, login.rpartition(" ")[2]) if text]
    for form in sorted({form for text in sent for form in secret_forms(text)}, key=len, reverse=True):
        said = said.replace(form, "***")
    return f"{error}: {said[:_EXPLANATION_MAX]}" if said else str(error)


def about_configuration(error: AnswerError, url_key: str, secrets: list[str]) -> ConfigError | None:
    """What the user has to change, if the server has not refused what was sent but who sends it, or where."""
    status = error.response.status_code if error.response is not None else 0
    key = _ABOUT_KEYS.get(status, url_key if status in (404, 405) else None)
    return ConfigError({key: [explained(error, secrets)]}) if key else None


def refuse_redirect(response: httpx.Response, url_key: str) -> None:
    """A redirect is not followed: a POST could become a GET without a body, and a login could reach another server.

    :raises ConfigError: it is one.
    """
    if response.status_code in _REDIRECTS:
        target = response.headers.get("location", "nowhere").partition("?")[0]
        raise ConfigError({url_key: [f"the server answers {response.status_code}, and redirects to {target}: name it"]})


def _common(values: Mapping[str, Any]) -> dict[str, Any]:
    host = values[keys.PROXY_HOST]
    return {
        "attempts": values[keys.MAX_RETRIES] + 1,
        "first_wait_s": values[keys.BACKOFF] / 1000,
        "resends": True,
        "timeout": values[keys.TIMEOUT],
        "verify": _verify(values),
        "proxy": f"http://{host}:{values[keys.PROXY_PORT]}" if host else None,
    }


def _guarded(url_key: str) -> dict[str, Any]:
    guard = Guard(url_key)

    def check(request: httpx.Request) -> None:
        guard.check_url(str(request.url))
        request.extensions = {**request.extensions, "trace": guard.check_peer}

    return {"event_hooks": {"request": [check]}}


def _verify(values: Mapping[str, Any]) -> ssl.SSLContext | bool:
    location, type_, password = (values[keys.TRUSTSTORE + part] for part in ("location", "type", "password"))
    if values[keys.TRUST_ALL] or not location:
        return not values[keys.TRUST_ALL]
    return trusting(Store(location, type_.upper(), keys.TRUSTSTORE, password.value if password else None))


class _OAuth2(httpx.Auth):
    """A token, asked for when it is first needed, and again when the server says that it has expired."""

    def __init__(self, values: Mapping[str, Any], client: httpx.Client) -> None:
        self._values, self._client = values, client
        self._renew_on = set(map(int, values[keys.RENEW_ON]))
        self._known = ""

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = self._authorization()
        response = yield request
        if response.status_code in self._renew_on:
            self._known = ""
            request.headers["Authorization"] = self._authorization()
            yield request

    def _authorization(self) -> str:
        if not self._known:
            answer = self._answer()
            token = answer.get(self._values[keys.TOKEN_NAME])
            if not isinstance(token, str) or not token:
                problem = f"the answer of the OAuth server has no such member, only {', '.join(answer) or 'none'}"
                raise ConfigError({keys.TOKEN_NAME: [problem]})
            self._known = f"{answer.get('token_type', 'Bearer')} {token}"
        return self._known

    def _answer(self) -> dict[str, Any]:
        """:raises ConfigError: the server refuses. :raises RetriableError: it is unavailable."""
        values, secret = self._values, self._values[keys.CLIENT_SECRET].value
        form, headers = {values[keys.GRANT_NAME]: values[keys.GRANT]}, {}
        if values[keys.SCOPE]:
            form["scope"] = values[keys.SCOPE]
        if values[keys.CREDENTIALS_IN].upper() == "HEADER":
            basic = base64.b64encode(f"{values[keys.CLIENT_ID]}:{secret}".encode()).decode()
            headers["Authorization"] = f"Basic {basic}"
        else:
            form |= {values[keys.CLIENT_ID_NAME]: values[keys.CLIENT_ID], values[keys.CLIENT_SECRET_NAME]: secret}
        try:
            response = self._client.post(values[keys.TOKEN_URL], data=form, headers=headers)
            refuse_redirect(response, keys.TOKEN_URL)
            answer = response.json()
        except AnswerError as error:
            raise ConfigError({keys.CLIENT_SECRET: [explained(error, [secret])]}) from error
        except ValueError as error:
            raise ConfigError(
                {keys.TOKEN_URL: ["does not answer with JSON: is it where tokens are issued?"]}
            ) from error
        if not isinstance(answer, dict):
            raise ConfigError({keys.TOKEN_URL: ["answers with JSON that is not an object"]})
        return answer
