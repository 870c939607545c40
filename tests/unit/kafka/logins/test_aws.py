"""Tokens for Amazon MSK: the same as those of AWS's own signer."""

from __future__ import annotations

import base64
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aws_msk_iam_sasl_signer import MSKAuthTokenProvider
from botocore.credentials import RefreshableCredentials
from botocore.exceptions import HTTPClientError, ProxyConnectionError

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.credentials.aws import safe_text
from airflow_kconnect.kafka.logins.aws import MskIamTokens
from airflow_kconnect.local.ports import LOOPBACK, free_port

REGION = {"region": "eu-central-1"}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret+key/")


def url_of(token: str) -> str:
    return base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()


def signed(token: str) -> str:
    """A token's URL without what says which program has signed it."""
    return url_of(token).partition("&User-Agent=")[0]


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("session", [None, "session+token/=="])
def test_a_token_is_signed_as_by_awss_own_signer(session: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if session is not None:
        monkeypatch.setenv("AWS_SESSION_TOKEN", session)
    provider = MskIamTokens(REGION)
    for _ in range(3):  # a second may end between the two
        ours, (theirs, _) = provider.token().value, MSKAuthTokenProvider.generate_auth_token(REGION["region"])
        if signed(ours) == signed(theirs):
            return
    assert signed(ours) == signed(theirs)


@pytest.mark.usefixtures("keys")
def test_it_is_valid_for_a_quarter_of_an_hour() -> None:
    assert MskIamTokens(REGION).token().expires_s == pytest.approx(time.time() + 900, abs=60)


def test_it_is_not_valid_for_longer_than_the_credentials() -> None:
    end = datetime.now(UTC) + timedelta(minutes=12)
    metadata = {"access_key": "A", "secret_key": "b", "token": "c", "expiry_time": end.isoformat()}
    provider = MskIamTokens(REGION)
    provider._session._credentials = RefreshableCredentials.create_from_metadata(metadata, lambda: metadata, "test")
    assert provider.token().expires_s == pytest.approx(end.timestamp(), abs=1)


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("options", "region"),
    [
        ({"bootstrap.servers": "b-1.demo.abc.c2.kafka.eu-west-3.amazonaws.com:9098,b-2.x:9098"}, "eu-west-3"),
        ({"bootstrap.servers": "boot-abc.c1.kafka-serverless.us-east-2.amazonaws.com:9098"}, "us-east-2"),
        ({"bootstrap.servers": "boot-abc.c1.kafka-serverless.us-east-2.amazonaws.com:9098", **REGION}, "eu-central-1"),
        ({"bootstrap.servers": "kafka.example.com:9098"}, "ap-south-1"),
    ],
    ids=["brokers", "serverless", "key", "environment"],
)
def test_the_region_is_found(options: dict[str, str], region: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "ap-south-1")
    assert f"https://kafka.{region}.amazonaws.com/" in url_of(MskIamTokens(options).token().value)


def error_of(options: dict[str, str]) -> dict[str, list[str]]:
    with pytest.raises(ConfigError) as caught:
        MskIamTokens(options).token()
    return dict(caught.value.errors)


@pytest.mark.usefixtures("keys")
def test_without_a_region_the_key_is_named() -> None:
    assert "set it" in error_of({"bootstrap.servers": "kafka.example.com:9098"})["region"][0]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "there are no credentials of AWS"),
        ({"profile": "nobody"}, "The config profile (nobody) could not be found"),
        ({"role.arn": "arn:aws:iam::1:role/x"}, "there are no credentials of AWS"),
    ],
    ids=["none", "profile", "role"],
)
def test_missing_credentials_say_what_is_missing(options: dict[str, Any], text: str) -> None:
    assert text in error_of(REGION | options)["kconnect.oauth.provider"][0]


@pytest.mark.usefixtures("keys")
def test_an_unavailable_service_of_roles_is_to_be_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", f"http://{LOOPBACK}:{free_port()}")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    role = {"role.arn": "arn:aws:iam::123456789012:role/kafka"}

    with pytest.raises(RetriableError, match="AWS gives no credentials for Kafka"):
        MskIamTokens({**REGION, **role}).token()


def test_what_was_to_be_sent_is_not_in_an_error() -> None:
    inner = ValueError("Invalid header value b'canary-token'")
    assert safe_text(HTTPClientError(error=inner)) == "ValueError before there was an answer"


def test_the_login_of_a_proxy_is_not_in_an_error() -> None:
    error = ProxyConnectionError(proxy_url="http://ann:canary@proxy:3128")
    assert safe_text(error).endswith('"http://proxy:3128"')
