"""Keys of authentication: what does not go together is found before anything is asked."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.registry.authentication import check_authentication
from airflow_kconnect.registry.keys import registry_config

OAUTH = {
    "bearer.auth.credentials.source": "OAUTHBEARER",
    "bearer.auth.issuer.endpoint.url": "https://idp/token",
    "bearer.auth.client.id": "kconnect",
    "bearer.auth.client.secret": "s3cret",
}
USER_INFO = {"basic.auth.credentials.source": "USER_INFO"}


def _errors(keys: dict[str, str]) -> dict[str, list[str]]:
    values = registry_config(ConfigDef()).parse({"schema.registry.url": "http://registry"} | keys)
    try:
        check_authentication(values)
    except ConfigError as error:
        return error.errors
    return {}


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"basic.auth.credentials.source": "URL"},
        USER_INFO | {"basic.auth.user.info": "ann:pass"},
        USER_INFO | {"schema.registry.basic.auth.user.info": "ann:pass"},
        {"bearer.auth.token": "t0ken"},
        OAUTH,
        OAUTH | {"bearer.auth.logical.cluster": "lsrc-1", "bearer.auth.identity.pool.id": "pool-1"},
    ],
)
def test_right(keys: dict[str, str]) -> None:
    assert _errors(keys) == {}


@pytest.mark.parametrize(
    ("keys", "key", "message"),
    [
        ({}, "basic.auth.user.info", "must be provided"),
        ({"basic.auth.user.info": "ann"}, "basic.auth.user.info", "must be `user:password`"),
        (
            {"schema.registry.basic.auth.user.info": "ann", "basic.auth.user.info": "ann:pass"},
            "schema.registry.basic.auth.user.info",
            "must be `user:password`",
        ),
        ({"basic.auth.user.info": "ann:pass", "bearer.auth.token": "t"}, "bearer.auth.token", "only one"),
    ],
    ids=["nothing", "no password", "the older key goes first", "both"],
)
def test_wrong_with_user_info(keys: dict[str, str], key: str, message: str) -> None:
    errors = _errors(USER_INFO | keys)

    assert list(errors) == [key]
    assert message in errors[key][0]


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "tökén"])
def test_a_token_that_no_header_can_have_is_not_shown(token: str) -> None:
    errors = _errors({"bearer.auth.token": token})

    assert list(errors) == ["bearer.auth.token"]
    assert token not in str(errors)


def test_oauth_needs_server_client_and_secret() -> None:
    errors = _errors({"bearer.auth.credentials.source": "OAUTHBEARER"})

    assert list(errors) == [
        "bearer.auth.issuer.endpoint.url",
        "bearer.auth.client.id",
        "bearer.auth.client.secret",
    ]


def test_oauth_and_user_info_exclude_each_other() -> None:
    assert list(_errors(OAUTH | USER_INFO | {"basic.auth.user.info": "ann:pass"})) == ["bearer.auth.credentials.source"]


@pytest.mark.parametrize("url", ["file:///etc/passwd", "idp/token", "https://ann:s3cret-pass@idp/token"])
def test_a_wrong_token_endpoint_is_not_shown(url: str) -> None:
    with pytest.raises(ConfigError, match=r"bearer\.auth\.issuer\.endpoint\.url") as caught:
        _errors(OAUTH | {"bearer.auth.issuer.endpoint.url": url})

    assert url not in str(caught.value)


@pytest.mark.parametrize("key", ["bearer.auth.logical.cluster", "bearer.auth.identity.pool.id"])
def test_a_header_has_no_line_break(key: str) -> None:
    assert list(_errors(OAUTH | {key: "a\nHost: b"})) == [key]
