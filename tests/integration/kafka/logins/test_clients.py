"""Clients log in at a broker that checks their tokens; what is wrong is said."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from confluent_kafka import Producer

from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.clients import ClientConfigs
from tests.support import unique
from tests.support.kafka import create_topic
from tests.support.logins.broker import TokenBroker
from tests.support.logins.cloud import CLIENT_SECRET, Cloud

Worker = dict[str, str]
ROLE = "kconnect.oauth.aws_msk_iam.role.arn"
PROVIDERS = ("aws_msk_iam", "azure", "gcp")


def log_in(worker: Worker) -> None:
    KafkaAdmin(ClientConfigs(worker).admin(), timeout_s=5).check_reachable()


def error_of(worker: Worker) -> ConnectError:
    with pytest.raises(ConnectError) as caught:
        log_in(worker)
    return caught.value


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_client_logs_in_with_the_identity_of_its_environment(name: str, worker: Callable[..., Worker]) -> None:
    log_in(worker(name))


def test_an_application_logs_in_with_its_secret(
    worker: Callable[..., Worker], application: Worker, own_cloud: Cloud
) -> None:
    log_in(worker("azure", **application))
    assert own_cloud.asked == ["/t/v2.0/.well-known/openid-configuration", "/t/oauth2/v2.0/token"]


def test_an_application_of_the_environment_logs_in(
    worker: Callable[..., Worker], application: Worker, own_cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in application.items():
        option = key.removeprefix("kconnect.oauth.azure.")  # tenant.id is AZURE_TENANT_ID
        monkeypatch.setenv(f"AZURE_{option.replace('.', '_').upper()}", value)
    log_in(worker("azure"))
    assert "/t/oauth2/v2.0/token" in own_cloud.asked


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [("client.secret", "canary-secret", "AADSTS7000215"), ("tenant.id", "nowhere", "unable to get authority")],
)
def test_what_entra_id_refuses_is_an_error_that_does_not_show_the_secret(
    key: str, value: str, text: str, worker: Callable[..., Worker], application: Worker
) -> None:
    error = error_of(worker("azure", **application | {f"kconnect.oauth.azure.{key}": value}))
    assert isinstance(error, ConfigError)
    assert text.lower() in error.errors["kconnect.oauth.provider"][0].lower()
    assert not [secret for secret in ("canary-secret", CLIENT_SECRET) if secret in str(error)]


@pytest.mark.parametrize("status", [503, None], ids=["busy", "unreachable"])
def test_an_application_whose_entra_id_is_unavailable_may_log_in_later(
    status: int | None,
    worker: Callable[..., Worker],
    application: Worker,
    own_cloud: Cloud,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if status is None:
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
        monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    else:
        own_cloud.status = status
    assert isinstance(error_of(worker("azure", **application)), RetriableError)


def test_a_role_is_assumed_first(worker: Callable[..., Worker], own_cloud: Cloud) -> None:
    log_in(worker("aws_msk_iam", **{ROLE: "arn:aws:iam::1:role/kafka"}))
    assert own_cloud.asked == ["/aws/container", "/aws/sts/"]


def test_a_role_that_may_not_be_assumed_is_named(worker: Callable[..., Worker]) -> None:
    error = error_of(worker("aws_msk_iam", **{ROLE: "arn:aws:iam::1:role/denied"}))
    assert isinstance(error, ConfigError)
    assert "is not authorized to perform: sts:AssumeRole" in error.errors[ROLE][0]


def test_a_token_that_the_broker_refuses_is_an_error_of_the_login(
    worker: Callable[..., Worker], own_cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAUNKNOWN")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary-secret")
    text = str(error_of(worker("aws_msk_iam")))
    assert "the broker refuses the token; check whose it is" in text
    assert "canary-secret" not in text


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_cloud_that_is_unavailable_may_be_there_later(
    name: str, worker: Callable[..., Worker], own_cloud: Cloud
) -> None:
    own_cloud.status = 503
    assert isinstance(error_of(worker(name)), RetriableError)


def test_a_key_file_that_is_missing_is_named(worker: Callable[..., Worker]) -> None:
    key = "kconnect.oauth.gcp.credentials.file"
    error = error_of(worker("gcp", **{key: "/no/such/file.json"}))
    assert isinstance(error, ConfigError)
    assert "/no/such/file.json" in error.errors[key][0]


def test_tokens_are_renewed_as_long_as_a_client_lives(
    worker: Callable[..., Worker], own_cloud: Cloud, token_broker: TokenBroker
) -> None:
    own_cloud.life_s = 6  # the broker closes connections that have no new token in time
    topic = create_topic(token_broker.bootstrap, unique("renewed"))
    errors: list[str] = []
    config = ClientConfigs(worker("gcp")).producer(None) | {"error_cb": lambda error: errors.append(str(error))}
    producer, until = Producer(config), time.monotonic() + 9
    while time.monotonic() < until:
        producer.produce(topic, b"x")
        producer.poll(0.25)
    assert (producer.flush(5), errors) == (0, [])
