"""The configuration of ValueToKey."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.smt.value_to_key import ValueToKey


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, 'Missing required configuration "fields" which has no default value'),
        ({"fields": ""}, "must not be empty"),
        ({"fields": "a,b,a"}, "values must not be duplicated"),
        ({"fields": "a,,b"}, "values must not be empty"),
    ],
)
def test_fields_are_required_and_differ(config: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ValueToKey(config)


def test_old_keys_are_not_read() -> None:
    assert ValueToKey({"fields": "a"}).needs == set()
