"""The client of AWS Glue's registry, as far as it gets without a server."""

from __future__ import annotations

from uuid import UUID

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.converters.avro.glue import AWSKafkaAvroConverter
from airflow_kconnect.local.ports import LOOPBACK, free_port
from airflow_kconnect.registry.glue.client import GlueRegistry


@pytest.fixture
def login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t")


def _registry(**given: str) -> GlueRegistry:
    values = AWSKafkaAvroConverter({"region": "eu-central-1", **given}, is_key=False).config_values
    return GlueRegistry(values, "value.converter.")


@pytest.mark.parametrize(("key", "value"), [("endpoint", "http://local_stack:4566"), ("region", "eu central")])
def test_what_botocore_refuses_names_its_key(key: str, value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _registry(**{key: value}).schema(UUID(int=1))
    assert list(caught.value.errors) == [f"value.converter.{key}"]


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254", "http://2852039166", "http://[::ffff:169.254.169.254]", "http://[fd00:ec2::254]"]
)
@pytest.mark.parametrize("key", ["endpoint", "proxyUrl"])
def test_nothing_is_asked_where_a_machines_credentials_are(key: str, url: str, login: None) -> None:
    with pytest.raises(ConfigError) as caught:
        _registry(**{key: url}).schema(UUID(int=1))
    assert "nothing is asked there" in caught.value.errors[f"value.converter.{key}"][0]


def test_nor_through_a_proxy(login: None) -> None:
    with pytest.raises(ConfigError) as caught:
        _registry(endpoint="http://169.254.169.254", proxyUrl=f"http://{LOOPBACK}:{free_port()}").schema(UUID(int=1))
    assert "nothing is asked there" in caught.value.errors["value.converter.endpoint"][0]
