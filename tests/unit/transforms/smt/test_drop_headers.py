"""The configuration of DropHeaders."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.smt.drop_headers import DropHeaders


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, 'Missing required configuration "headers" which has no default value'),
        ({"headers": ""}, "must not be empty"),
        ({"headers": "a,b,a"}, "values must not be duplicated"),
        ({"headers": "a,,b"}, "values must not be empty"),
    ],
)
def test_names_are_required_and_differ(config: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        DropHeaders(config)


def test_only_headers_are_read() -> None:
    assert DropHeaders({"headers": "a, b"}).needs == {"headers"}
