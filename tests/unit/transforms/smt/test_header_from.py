"""The configuration of HeaderFrom."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.smt.header_from import HeaderFromValue

CONFIG = {"fields": "a,b", "headers": "x,y", "operation": "copy"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fields": ""}, r"Invalid value \[\] for configuration fields: Empty list"),
        ({"headers": ""}, r"Invalid value \[\] for configuration headers: Empty list"),
        ({"operation": "Move"}, "String must be one of: move, copy"),
    ],
)
def test_wrong_values(change: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        HeaderFromValue(CONFIG | change)


@pytest.mark.parametrize("key", CONFIG)
def test_all_keys_are_required(key: str) -> None:
    with pytest.raises(ConfigError, match=f'Missing required configuration "{key}" which has no default value'):
        HeaderFromValue({other: value for other, value in CONFIG.items() if other != key})


def test_each_field_has_a_header() -> None:
    message = "'fields' config must have the same number of elements as 'headers' config."
    assert HeaderFromValue.validate(CONFIG | {"headers": "x"}) == {"headers": [message]}
    assert HeaderFromValue.validate(CONFIG | {"fields": "a,a"}) == {}
