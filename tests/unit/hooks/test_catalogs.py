"""Settings of catalogs from Airflow connections: what each type gives, what is a secret, what cannot be translated."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.table.catalogs.keys import CONNECTIONS
from airflow_kconnect.hooks.variables import look_up, with_login

SINK = {"name": "orders", "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector"}


def settings(conn_ids: str, **config: str) -> dict[str, str]:
    """The settings of the catalog, without their prefix."""
    found = with_login({**SINK, **config, CONNECTIONS: conn_ids}, {})
    assert CONNECTIONS not in found
    prefix = "iceberg.catalog."
    return {key.removeprefix(prefix): text for key, text in found.items() if key.startswith(prefix)}


def problem(conn_ids: str, **config: str) -> str:
    with pytest.raises(ConfigError) as caught:
        settings(conn_ids, **config)
    [text] = caught.value.errors[CONNECTIONS]
    assert "s3cret" not in text
    return text


def test_a_rest_catalog_has_its_address_and_its_login(connection: Any) -> None:
    connection(
        "lake",
        conn_type="iceberg",
        host="https://catalog/ws",
        login="client",
        password="s3cret",
        extra={"warehouse": "prod", "scope": "PRINCIPAL_ROLE:ALL", "s3.region": "eu-west-1", "token": "t-s3cret"},
    )
    assert settings("lake") == {
        "type": "rest",
        "uri": "https://catalog/ws",
        "credential": "${airflow:lake:login}:${airflow:lake:password}",
        "warehouse": "prod",
        "scope": "PRINCIPAL_ROLE:ALL",
        "client.region": "eu-west-1",
        "token": "${airflow:lake:extra.token}",
    }


def test_secrets_are_looked_up_as_those_of_other_keys(connection: Any) -> None:
    connection("lake", conn_type="iceberg", host="https://catalog", login="client", password="s3cret")
    config = with_login({**SINK, CONNECTIONS: "lake"}, {})
    assert look_up(config, {}) == {"airflow:lake:login": "client", "airflow:lake:password": "s3cret"}


def test_a_worker_restricts_which_connections_are_looked_up(connection: Any) -> None:
    connection("lake", conn_type="iceberg", host="https://catalog", login="client", password="s3cret")
    worker = {"config.providers.airflow.param.allowlist.pattern": "kafka_.*"}
    config = with_login({**SINK, CONNECTIONS: "lake"}, worker)
    with pytest.raises(ConfigError, match="allowlist"):
        look_up(config, worker)


def test_the_keys_of_a_table_sink_have_another_prefix(connection: Any) -> None:
    connection("lake", conn_type="iceberg", host="https://catalog")
    config = with_login({"name": "x", "table.format": "iceberg", CONNECTIONS: "lake"}, {})
    assert config["table.catalog.uri"] == "https://catalog"


def test_the_configuration_wins(connection: Any) -> None:
    connection("lake", conn_type="iceberg", host="https://catalog", extra={"warehouse": "prod"})
    assert settings("lake", **{"iceberg.catalog.warehouse": "test"})["warehouse"] == "test"


def test_a_catalog_in_a_database_has_its_login(connection: Any) -> None:
    connection(
        "lake", conn_type="iceberg", host="jdbc:postgresql://db/c", login="u", password="s3cret", extra={"type": "jdbc"}
    )
    found = settings("lake")
    assert (found["jdbc.user"], found["jdbc.password"]) == ("${airflow:lake:login}", "${airflow:lake:password}")


def test_keys_of_a_store_come_from_a_second_connection(connection: Any) -> None:
    connection("lake", conn_type="iceberg", host="https://catalog")
    connection(
        "store",
        conn_type="aws",
        login="AKIA",
        password="s3cret",
        extra={"region_name": "eu-west-1", "endpoint_url": "http://s3", "aws_session_token": "session"},
    )
    assert settings("lake,store") == {
        "type": "rest",
        "uri": "https://catalog",
        "s3.access-key-id": "${airflow:store:login}",
        "s3.secret-access-key": "${airflow:store:password}",
        "s3.session-token": "${airflow:store:extra.aws_session_token}",
        "client.region": "eu-west-1",
        "s3.endpoint": "http://s3",
    }


def test_requests_to_a_catalog_are_signed_with_the_same_keys(connection: Any) -> None:
    connection("aws", conn_type="aws", login="AKIA", password="s3cret", extra={"region_name": "eu"})
    found = settings("aws", **{"iceberg.catalog.rest.sigv4-enabled": "true"})
    assert found["rest.secret-access-key"] == "${airflow:aws:password}"
    assert found["rest.signing-region"] == "eu"


def test_a_role_is_assumed(connection: Any) -> None:
    connection("aws", conn_type="aws", extra={"region_name": "eu", "role_arn": "arn:aws:iam::1:role/x"})
    found = settings("aws", **{"iceberg.catalog.type": "glue"})
    assert found["client.factory"] == "org.apache.iceberg.aws.AssumeRoleAwsClientFactory"
    assert found["client.assume-role.arn"] == "arn:aws:iam::1:role/x"


def test_an_endpoint_is_that_of_glue_too(connection: Any) -> None:
    connection("aws", conn_type="aws", extra={"region_name": "eu", "endpoint_url": "http://aws"})
    found = settings("aws", **{"iceberg.catalog.type": "glue"})
    assert (found["glue.endpoint"], found["s3.endpoint"]) == ("http://aws", "http://aws")


def test_an_azure_account_has_its_key_or_its_token(connection: Any) -> None:
    connection("azure", conn_type="wasb", login="account", password="s3cret", extra={"sas_token": "sas"})
    assert settings("azure") == {
        "adls.sas-token.account": "${airflow:azure:extra.sas_token}",
        "adls.auth.shared-key.account.name": "account",
        "adls.auth.shared-key.account.key": "${airflow:azure:password}",
    }


@pytest.mark.parametrize(
    ("fields", "config", "text"),
    [
        ({"conn_type": "postgres", "host": "db"}, {}, "is of type `postgres`, expected one of: iceberg, aws"),
        ({"conn_type": "iceberg", "host": "https://c", "login": "u"}, {}, "without the other"),
        (
            {"conn_type": "iceberg", "login": "u", "password": "s3cret", "extra": {"type": "hive"}},
            {},
            "has a login, which a catalog of type hive does not use",
        ),
        (
            {"conn_type": "aws", "login": "u", "password": "s3cret"},
            {"iceberg.catalog.type": "glue"},
            "which Glue's catalog does not use",
        ),
        (
            {"conn_type": "aws", "login": "u", "password": "s3cret", "extra": {"role_arn": "arn:aws:iam::1:role/x"}},
            {},
            "an access key and a role",
        ),
        (
            {"conn_type": "google_cloud_platform", "extra": {"keyfile_dict": "s3cret"}},
            {},
            "GOOGLE_APPLICATION_CREDENTIALS",
        ),
        ({"conn_type": "adls", "password": "s3cret", "extra": {"tenant_id": "t"}}, {}, "AZURE_CLIENT_SECRET"),
        ({"conn_type": "wasb", "password": "s3cret"}, {}, "names no storage account"),
    ],
)
def test_what_would_be_lost_is_an_error(
    connection: Any, fields: dict[str, Any], config: dict[str, str], text: str
) -> None:
    connection("c", **fields)
    assert text in problem("c", **config)


def test_a_connection_that_does_not_exist_is_named() -> None:
    assert "names the Airflow connection `nope`, which does not exist" in problem("nope")


def test_a_worker_without_variables_of_airflow_has_no_connections(connection: Any) -> None:
    connection("lake", conn_type="iceberg", host="https://catalog")
    with pytest.raises(ConfigError, match="turned the variables of Airflow off"):
        with_login({**SINK, CONNECTIONS: "lake"}, {"config.providers": ""})
