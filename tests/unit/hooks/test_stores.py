"""Settings of object stores from Airflow connections: what each type gives, what is a secret, what cannot be used."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.cli.airflow_variables import with_airflow_login
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.variables import look_up, with_login
from airflow_kconnect.places.keys import CONNECTION, check_connection

SINK = {"name": "orders", "connector.class": "DirectorySink", "directory": "s3://lake/raw", CONNECTION: "store"}
KEYS: dict[str, Any] = {"conn_type": "aws", "login": "AKIA", "password": "s3cret"}


def settings(**config: str) -> dict[str, str]:
    """The settings of the store, without their prefix."""
    found = with_login({**SINK, **config}, {})
    assert CONNECTION not in found
    return {key.removeprefix("store."): text for key, text in found.items() if key.startswith("store.")}


def problem(**config: str) -> str:
    with pytest.raises(ConfigError) as caught:
        settings(**config)
    [text] = caught.value.errors[CONNECTION]
    assert "s3cret" not in text
    return text


def test_keys_of_aws_are_references(connection: Any) -> None:
    extra = {"aws_session_token": "s3cret-too", "region_name": "eu-west-1", "endpoint_url": "https://minio:9000"}
    connection("store", **KEYS, extra=extra)
    assert settings() == {
        "access.key.id": "${airflow:store:login}",
        "secret.access.key": "${airflow:store:password}",
        "session.token": "${airflow:store:extra.aws_session_token}",
        "region": "eu-west-1",
        "endpoint": "https://minio:9000",
    }


def test_secrets_are_looked_up_as_those_of_other_keys(connection: Any) -> None:
    connection("store", **KEYS)
    assert look_up(with_login(SINK, {}), {}) == {"airflow:store:login": "AKIA", "airflow:store:password": "s3cret"}


def test_a_connection_without_a_login_leaves_it_to_the_environment(connection: Any) -> None:
    connection("store", conn_type="aws", extra={"region_name": "eu-west-1"})
    assert settings() == {"region": "eu-west-1"}


def test_a_role_is_assumed_with_the_keys(connection: Any) -> None:
    role = {"role_arn": "arn:aws:iam::1:role/lake", "assume_role_kwargs": {"ExternalId": "us"}}
    connection("store", **KEYS, extra=role)
    assert settings() == {
        "access.key.id": "${airflow:store:login}",
        "secret.access.key": "${airflow:store:password}",
        "role.arn": "arn:aws:iam::1:role/lake",
        "role.external.id": "us",
    }


def test_what_the_connection_says_about_the_network_is_kept(connection: Any) -> None:
    client = {"proxies": {"https": "http://proxy:3128"}, "s3": {"addressing_style": "path"}}
    connection(
        "store",
        conn_type="aws",
        extra={
            "profile_name": "lake",
            "verify": "/etc/ca.pem",
            "config_kwargs": client,
            "service_config": {"s3": {"endpoint_url": "https://s3.internal"}},
        },
    )
    assert settings() == {
        "profile": "lake",
        "ca.file": "/etc/ca.pem",
        "proxy": "http://proxy:3128",
        "path.style": "true",
        "endpoint": "https://s3.internal",
    }


def test_a_variable_in_a_field_is_not_one_of_the_configuration(connection: Any) -> None:
    connection("store", conn_type="aws", extra={"verify": "${file:/etc/ca:pem}", "role_arn": "${env:ROLE}"})
    assert settings() == {
        "ca.file": "${airflow:store:extra.verify}",
        "role.arn": "${airflow:store:extra.role_arn}",
    }


def test_the_configuration_wins(connection: Any) -> None:
    connection("store", conn_type="aws", extra={"region_name": "eu-west-1"})
    assert settings(**{"store.region": "us-west-2"}) == {"region": "us-west-2"}


def test_a_login_of_the_configuration_is_not_combined_with_that_of_the_connection(connection: Any) -> None:
    connection("store", **KEYS, extra={"region_name": "eu-west-1"})
    assert settings(**{"store.access.key.id": "mine"}) == {"access.key.id": "mine", "region": "eu-west-1"}


@pytest.mark.parametrize(
    ("fields", "config", "text"),
    [
        ({"conn_type": "postgres", "host": "db"}, {}, "is of type `postgres`, expected one of: aws"),
        ({"conn_type": "aws", "login": "AKIA"}, {}, "without the other"),
        ({**KEYS}, {"directory": "hdfs://name-node/lake"}, "is for s3://, and the address is hdfs://name-node/lake"),
        ({**KEYS, "extra": {"verify": False}}, {}, "does not verify the store's certificate: set `verify` to the file"),
        (
            {**KEYS, "extra": {"role_arn": "arn:x", "assume_role_method": "assume_role_with_saml"}},
            {},
            "assumes its role by `assume_role_with_saml`",
        ),
        (
            {**KEYS, "extra": {"config_kwargs": {"proxies": {"https": "http://u:s3cret@proxy:3128"}}}},
            {},
            "has a password within an extra: write `store.proxy` with a variable instead",
        ),
        ({**KEYS, "extra": {"config_kwargs": "s3cret"}}, {}, "`config_kwargs` that is not a JSON object"),
        (
            {**KEYS, "extra": {"config_kwargs": {"proxies": "s3cret"}}},
            {},
            "has `proxies` in its extra `config_kwargs` ",
        ),
        ({**KEYS, "extra": {"config_kwargs": {"s3": "path"}}}, {}, "has `s3` in its extra `config_kwargs` that is not"),
        ({**KEYS, "extra": {"service_config": {"s3": "s3cret"}}}, {}, "has `s3` in its extra `service_config` that is"),
        ({**KEYS, "extra": {"config_kwargs": {"signature_version": "unsigned"}}}, {}, "signed with s3v4"),
    ],
)
def test_what_would_be_lost_is_an_error(
    connection: Any, fields: dict[str, Any], config: dict[str, str], text: str
) -> None:
    connection("store", **fields)
    assert text in problem(**config)


def test_a_connection_that_does_not_exist_is_named() -> None:
    assert "names the Airflow connection `nope`, which does not exist" in problem(**{CONNECTION: "nope"})


def test_a_worker_without_variables_of_airflow_has_no_connections(connection: Any) -> None:
    connection("store", **KEYS)
    with pytest.raises(ConfigError, match="turned the variables of Airflow off"):
        with_login(SINK, {"config.providers": ""})


def test_commands_on_a_machine_with_airflow_look_it_up(connection: Any) -> None:
    connection("store", conn_type="aws", extra={"region_name": "eu-west-1"})
    assert with_airflow_login(SINK, {})["store.region"] == "eu-west-1"


def test_without_airflow_the_name_of_a_connection_is_an_error() -> None:
    with pytest.raises(ConfigError, match="needs Airflow, whose tasks look it up; elsewhere write the settings"):
        check_connection(SINK)


@pytest.mark.parametrize(
    "own",
    [
        {"aws.access.key.id": "AKIAOWN", "aws.secret.access.key": "own"},
        {"s3.credentials.provider.sts.aws.access.key.id": "AKIAOWN"},
    ],
)
def test_an_own_login_by_keys_of_confluent_is_not_combined_with_a_token(connection: Any, own: dict[str, str]) -> None:
    connection("store", **KEYS, extra={"aws_session_token": "s3cret-too", "region_name": "eu-west-1"})
    assert settings(**own) == {"region": "eu-west-1"}


def test_an_empty_login_by_keys_of_confluent_is_none(connection: Any) -> None:
    connection("store", **KEYS)
    assert "access.key.id" in settings(**{"aws.access.key.id": ""})


@pytest.mark.parametrize(
    ("key", "at"),
    [("gcs.bucket.name", "gs://lake"), ("azblob.container.name", "abfss://lake@"), ("s3.bucket.name", "")],
)
def test_a_connection_must_be_of_the_store_of_confluents_sinks(connection: Any, key: str, at: str) -> None:
    connection("store", **KEYS)
    config = {"name": "orders", key: "lake", CONNECTION: "store"}
    if not at:
        assert "store.access.key.id" in with_login(config, {})
        return
    with pytest.raises(ConfigError) as caught:
        with_login(config, {})
    assert f"is of type `aws`, which is for s3://, and the address is {at}" in caught.value.errors[CONNECTION][0]


def test_a_connection_must_be_of_the_store_of_connect_spooldirs_sources(connection: Any) -> None:
    connection("store", **KEYS)
    with pytest.raises(ConfigError, match="the address is gs://lake/in"):
        with_login({"name": "orders", "input.path": "gs://lake/in", CONNECTION: "store"}, {})
