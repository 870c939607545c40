"""The configuration of SetSchemaMetadata."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.smt.set_schema_metadata import SetSchemaMetadataValue


@pytest.mark.parametrize(
    ("config", "errors"),
    [
        ({}, {"schema.name": ["Neither schema name nor version configured"]}),
        ({"schema.name": "n"}, {}),
        ({"schema.version": "1"}, {}),
    ],
)
def test_a_name_or_a_version_is_required(config: dict[str, str], errors: dict[str, list[str]]) -> None:
    assert SetSchemaMetadataValue.validate(config) == errors


def test_a_version_is_a_number() -> None:
    with pytest.raises(ConfigError, match="Not a number of type INT"):
        SetSchemaMetadataValue({"schema.version": "x"})
