"""The configuration of TimestampRouter."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.smt.timestamp_router import TimestampRouter


def test_defaults() -> None:
    values = TimestampRouter({}).config_values
    assert values == {"topic.format": "${topic}-${timestamp}", "timestamp.format": "yyyyMMdd"}


def test_a_wrong_pattern_is_an_error_from_the_start() -> None:
    with pytest.raises(ConfigError, match=r"configuration timestamp\.format: Illegal pattern character 'T'"):
        TimestampRouter({"timestamp.format": "yyyyTMM"})


def test_timestamps_are_read() -> None:
    assert TimestampRouter({}).needs == {"timestamp"}
