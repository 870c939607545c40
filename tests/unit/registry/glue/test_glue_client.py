"""The client of AWS Glue's registry, as far as it gets without a server."""

from __future__ import annotations

from uuid import UUID

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.converters.avro.glue import AWSKafkaAvroConverter
from airflow_kconnect.registry.glue.client import GlueRegistry


@pytest.mark.parametrize(("key", "value"), [("endpoint", "http://local_stack:4566"), ("region", "eu central")])
def test_what_botocore_refuses_names_its_key(key: str, value: str) -> None:
    given = {"region": "eu-central-1", key: value}
    values = AWSKafkaAvroConverter(given, is_key=False).config_values
    with pytest.raises(ConfigError) as caught:
        GlueRegistry(values, "value.converter.").schema(UUID(int=1))
    assert list(caught.value.errors) == [f"value.converter.{key}"]
