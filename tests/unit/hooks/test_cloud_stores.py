"""Settings of Google's and Azure's stores and of HDFS from Airflow connections."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.variables import with_login
from airflow_kconnect.places.keys import CONNECTION

GOOGLE, AZURE = "gs://lake/raw", "abfss://lake@shop.dfs.core.windows.net/raw"
HDFS = "hdfs://names/lake"


def settings(directory: str) -> dict[str, str]:
    """The settings of the store, without their prefix."""
    found = with_login({"name": "orders", "directory": directory, CONNECTION: "store"}, {})
    return {key.removeprefix("store."): text for key, text in found.items() if key.startswith("store.")}


def test_a_key_of_google_is_a_reference(connection: Any) -> None:
    connection("store", conn_type="google_cloud_platform", extra={"keyfile_dict": '{"private_key": "s3cret"}'})
    assert settings(GOOGLE) == {"credentials.json": "${airflow:store:extra.keyfile_dict}"}


def test_a_file_of_google_is_a_reference_too(connection: Any) -> None:
    connection("store", conn_type="google_cloud_platform", extra={"key_path": "/etc/google.json"})
    assert settings(GOOGLE) == {"credentials.file": "${airflow:store:extra.key_path}"}


def test_without_a_key_the_login_of_the_machines_is_used(connection: Any) -> None:
    connection("store", conn_type="google_cloud_platform", extra={"project": "shop"})
    assert settings(GOOGLE) == {}


def test_the_key_of_an_account_is_a_reference(connection: Any) -> None:
    connection("store", conn_type="wasb", login="shop", password="s3cret")
    assert settings(AZURE) == {"account.key": "${airflow:store:password}"}


@pytest.mark.parametrize("kind", ["wasb", "adls"])
def test_a_service_principal_is_login_and_password_with_a_tenant(connection: Any, kind: str) -> None:
    connection("store", conn_type=kind, login="client", password="s3cret", extra={"tenant_id": "tenant"})
    assert settings(AZURE) == {
        "tenant.id": "tenant",
        "client.id": "client",
        "client.secret": "${airflow:store:password}",
    }


def test_a_shared_access_signature_is_a_reference(connection: Any) -> None:
    connection("store", conn_type="wasb", extra={"sas_token": "sv=1&sig=s3cret"})
    assert settings(AZURE) == {"sas.token": "${airflow:store:extra.sas_token}"}


def test_name_nodes_are_the_hosts_of_a_connection(connection: Any) -> None:
    connection("store", conn_type="webhdfs", host="nn1, nn2", port=9870, login="etl")
    assert settings(HDFS) == {"endpoint": "http://nn1:9870,http://nn2:9870", "user": "etl"}


def test_name_nodes_are_reached_by_https_if_the_connection_says_so(connection: Any) -> None:
    extra = {"use_ssl": True, "verify": "/etc/ca.pem"}
    connection("store", conn_type="webhdfs", host="knox", port=8443, schema="gateway/lake", extra=extra)
    assert settings(HDFS) == {"endpoint": "https://knox:8443/gateway/lake", "ca.file": "/etc/ca.pem"}


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"host": "nn1", "password": "s3cret"}, "has a password"),
        ({}, "names no host"),
        ({"host": "nn1", "extra": {"use_ssl": True, "verify": False}}, "does not verify"),
    ],
)
def test_what_name_nodes_cannot_use_is_an_error(connection: Any, fields: dict[str, Any], text: str) -> None:
    connection("store", conn_type="webhdfs", **fields)
    with pytest.raises(ConfigError, match=text) as raised:
        settings(HDFS)
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("kind", "extra", "text"),
    [
        ("wasb", {"connection_string": "AccountKey=s3cret"}, "write the key of the account as its password"),
        ("wasb", {"sas_token": "https://shop.blob.core.windows.net?sig=s3cret"}, "only what follows"),
        ("google_cloud_platform", {}, "is for gs://, and the address is"),
    ],
)
def test_what_cannot_be_used_is_an_error(connection: Any, kind: str, extra: dict[str, str], text: str) -> None:
    connection("store", conn_type=kind, extra=extra)
    with pytest.raises(ConfigError, match=text) as raised:
        settings(AZURE)
    assert "s3cret" not in str(raised.value)
