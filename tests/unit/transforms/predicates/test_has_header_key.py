"""The configuration of HasHeaderKey."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.predicates.has_header_key import HasHeaderKey


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, 'Missing required configuration "name" which has no default value'),
        ({"name": ""}, "String must be non-empty"),
    ],
)
def test_a_name_is_required(config: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        HasHeaderKey(config)


def test_only_headers_are_read() -> None:
    assert HasHeaderKey({"name": "h"}).needs == {"headers"}
