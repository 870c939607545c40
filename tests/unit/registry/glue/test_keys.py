"""The keys of AWS Glue's registry: Amazon's defaults, and what does not fit."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.converters.avro.glue import AWSKafkaAvroConverter


def test_the_defaults_are_amazons() -> None:
    values = AWSKafkaAvroConverter({}, is_key=False).config_values

    names = ("registry.name", "schemaAutoRegistrationEnabled", "compatibility", "compression", "assumeRoleSessionName")
    assert [values[name] for name in names] == ["default-registry", False, "BACKWARD", "NONE", "kafka-connect-session"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("compression", "gzip"),
        ("compatibility", "some"),
        ("registry.name", "my registry"),
        ("schemaName", "orders/v1"),
        ("endpoint", "glue.eu-central-1.amazonaws.com"),
        ("proxyUrl", "ftp://proxy"),
        ("avroRecordType", "POJO"),
        ("schemaNameGenerationClass", "com.acme.Names"),
        ("secondaryDeserializer", "com.acme.Deserializer"),
    ],
)
def test_a_wrong_value_names_its_key(key: str, value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        AWSKafkaAvroConverter({key: value}, is_key=False)
    assert list(caught.value.errors) == [key]


def test_a_secondary_deserializer_needs_its_registry() -> None:
    with pytest.raises(ConfigError) as caught:
        AWSKafkaAvroConverter({"secondaryDeserializer": "KafkaAvroDeserializer"}, is_key=False)
    assert "`secondaryDeserializer`" in caught.value.errors["schema.registry.url"][0]
