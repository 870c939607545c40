"""The configuration of ExtractField."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.smt.extract_field import ExtractFieldValue


def test_backticks_come_in_pairs_in_paths() -> None:
    advice = "consider adding a backslash before backtick at position 2 to escape it"
    errors = {"field": [f"Incomplete backtick pair in path: [a.`b], {advice}"]}
    assert ExtractFieldValue.validate({"field": "a.`b", "field.syntax.version": "v2"}) == errors
    assert ExtractFieldValue.validate({"field": "a.`b"}) == {}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, 'Missing required configuration "field" which has no default value'),
        ({"field": "a", "field.syntax.version": "V3"}, r"String must be one of \(case insensitive\): V1, V2"),
    ],
)
def test_wrong_values(config: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ExtractFieldValue(config)
