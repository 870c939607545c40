"""The configuration of InsertHeader."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.smt.insert_header import InsertHeader

CONFIG = {"header": "h", "value.literal": "5"}


@pytest.mark.parametrize("key", CONFIG)
def test_both_keys_are_required(key: str) -> None:
    with pytest.raises(ConfigError, match=f'Missing required configuration "{key}" which has no default value'):
        InsertHeader({other: value for other, value in CONFIG.items() if other != key})


def test_only_headers_are_read() -> None:
    assert InsertHeader(CONFIG).needs == {"headers"}
